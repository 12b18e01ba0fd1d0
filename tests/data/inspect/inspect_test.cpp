#include "data/inspect/inspect.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "data/small_sets.h"
#include "support/no_more_threads.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using Json = nlohmann::json;
using testing::numbered_jpeg;
using testing::numbered_png;
using testing::TemporaryFolder;
using testing::to_bytes;

InspectOptions quiet(int threads = 2) {
  InspectOptions options;
  options.progress = false;
  options.threads = threads;
  return options;
}

bool has(const std::vector<DataProblem>& problems, const std::string& kind,
         const std::string& name) {
  return std::any_of(problems.begin(), problems.end(), [&](const DataProblem& p) {
    return p.kind == kind && (p.file.ends_with(name) || p.id == name);
  });
}

TEST(Inspect, CountsSplitsClassesAndSizes) {
  TemporaryFolder folder;
  testing::write_files(folder.path(), testing::class_set(5, 2));
  testing::write_files(folder.path(), {{"train/ant/wide.png", numbered_png(9, 40, 30)}});
  const DatasetReport report = inspect_dataset(folder.path().string(), quiet());
  EXPECT_EQ(report.layout, "image folder with 3 classes; splits train, val");
  ASSERT_EQ(report.splits.size(), 2U);
  EXPECT_EQ(report.splits[0].pictures, 16);
  EXPECT_EQ(report.splits[0].class_counts, (std::vector<std::int64_t>{6, 5, 5}));
  EXPECT_EQ(report.splits[1].pictures, 6);
  EXPECT_EQ(report.pictures, 22);
  EXPECT_EQ(report.max_width, 40);
  EXPECT_EQ(report.min_height, 20);
  EXPECT_EQ(report.sizes.front(), (std::pair<std::string, std::int64_t>{"24x20", 21}));
  EXPECT_EQ(report.formats.at("PNG"), 16);
  EXPECT_EQ(report.formats.at("JPEG"), 6);
  EXPECT_TRUE(report.broken.empty());
  EXPECT_TRUE(report.usable());
  EXPECT_TRUE(std::count(report.tasks.begin(), report.tasks.end(), "classifier"));
}

TEST(Inspect, DoesWithFewerThreads) {
  TemporaryFolder folder;
  testing::write_files(folder.path(), testing::class_set(5, 2));
  const testing::NoMoreThreads scope;
  EXPECT_EQ(inspect_dataset(folder.path().string(), quiet(4)).pictures, 21);
}

TEST(Inspect, NamesBrokenAndOddPictures) {
  TemporaryFolder folder;
  Bytes cut_png = numbered_png(1, 200, 200), cut_jpeg = numbered_jpeg(1, 200, 200);
  cut_png.resize(cut_png.size() / 2);
  cut_jpeg.resize(cut_jpeg.size() / 2);
  GrayImage grey(20, 20);
  testing::write_files(folder.path(), {{"good.png", numbered_png(1)},
                                       {"zero.jpg", {}},
                                       {"text.jpg", to_bytes("this is no picture")},
                                       {"cut.png", cut_png},
                                       {"cut.jpg", cut_jpeg},
                                       {"lying.png", numbered_jpeg(2)},
                                       {"tiny.png", numbered_png(3, 8, 40)},
                                       {"large.png", numbered_png(3, 101, 100)},
                                       {"grey.png", encode_png(grey)}});
  InspectOptions options = quiet();
  options.huge_pixels = 10'000;
  options.tiny_side = 10;
  DatasetReport report = inspect_dataset(folder.path().string(), options);
  EXPECT_EQ(report.layout, "image folder without classes");
  EXPECT_TRUE(has(report.broken, "zero bytes", "zero.jpg"));
  EXPECT_TRUE(has(report.broken, "no picture", "text.jpg"));
  EXPECT_TRUE(has(report.broken, "damaged", "cut.png"));
  EXPECT_TRUE(has(report.broken, "damaged", "cut.jpg"));
  EXPECT_EQ(report.broken.size(), 4U);
  EXPECT_EQ(report.splits[0].broken, 4);
  EXPECT_TRUE(has(report.odd, "wrong extension", "lying.png"));
  EXPECT_TRUE(has(report.odd, "tiny", "tiny.png"));
  EXPECT_TRUE(has(report.odd, "huge", "large.png"));
  EXPECT_TRUE(has(report.odd, "grey", "grey.png"));
  EXPECT_EQ(report.odd.size(), 4U);
  EXPECT_FALSE(report.usable());

  const Json json = report_to_json(report, 2);
  EXPECT_EQ(json["kind"], "data");
  EXPECT_EQ(json["broken"]["count"], 4);
  EXPECT_EQ(json["broken"]["list"].size(), 2U);
  EXPECT_EQ(json["odd"]["kinds"]["grey"], 1);
  const std::string text = report_to_text(report, 20);
  EXPECT_NE(text.find("cut.jpg"), std::string::npos) << text;
  const DatasetReport alone = inspect_dataset(folder.path().string(), [&] {
    InspectOptions o = options;
    o.threads = 1;
    return o;
  }());
  EXPECT_EQ(report_to_json(alone), report_to_json(report)) << "threads must not change the report";
}

TEST(Inspect, NamesBadAnnotationsOfCoco) {
  TemporaryFolder folder;
  const Json box{
      {"id", 1}, {"image_id", 1}, {"category_id", 1}, {"bbox", {50, 0, 9, 9}}, {"area", 81}};
  const Json unknown{
      {"id", 2}, {"image_id", 1}, {"category_id", 9}, {"bbox", {0, 0, 9, 9}}, {"area", 81}};
  const Json line{{"id", 3},          {"image_id", 1},
                  {"category_id", 1}, {"bbox", {0, 0, 9, 9}},
                  {"area", 81},       {"segmentation", Json::array({Json::array({1, 1, 5, 5})})}};
  const Json file{
      {"categories", Json::array({{{"id", 1}, {"name", "cat"}}})},
      {"images",
       Json::array({{{"id", 1}, {"file_name", "a.png"}, {"width", 24}, {"height", 21}},
                    {{"id", 2}, {"file_name", "gone.png"}, {"width", 24}, {"height", 20}}})},
      {"annotations", Json::array({box, unknown, line})}};
  testing::write_files(folder.path(), {{"annotations/instances_val.json", to_bytes(file.dump())},
                                       {"val/a.png", numbered_png(1)}});
  const DatasetReport report = inspect_dataset(folder.path().string(), quiet());
  EXPECT_EQ(report.kind, LayoutKind::kCoco);
  EXPECT_TRUE(has(report.annotations, "box outside", "annotation 1"));
  EXPECT_TRUE(has(report.annotations, "unknown class", "annotation 2"));
  EXPECT_TRUE(has(report.annotations, "bad polygon", "annotation 3"));
  EXPECT_TRUE(has(report.annotations, "missing file", "image 2"));
  EXPECT_TRUE(has(report.annotations, "wrong size", "image 1"));
  EXPECT_EQ(report.annotations.size(), 5U);
  for (const DataProblem& p : report.annotations)
    EXPECT_TRUE(p.file.ends_with("instances_val.json")) << p.file;
  EXPECT_EQ(report.splits[0].annotations, 2);
  EXPECT_FALSE(report.usable());
}

TEST(Inspect, NamesBadLabelMaps) {
  TemporaryFolder folder;
  GrayImage labels(24, 20), wrong_size(23, 20);
  labels.pixels[7] = 5;
  testing::write_files(folder.path(), {{"images/train/a.png", numbered_png(1)},
                                       {"annotations/train/a.png", encode_png(labels)},
                                       {"images/train/b.png", numbered_png(2)},
                                       {"annotations/train/b.png", encode_png(wrong_size)},
                                       {"images/train/c.png", numbered_png(3)},
                                       {"images/train/d.png", numbered_png(4)},
                                       {"annotations/train/d.png", numbered_png(4)},
                                       {"classes.txt", to_bytes("one\ntwo\n")}});
  const DatasetReport report = inspect_dataset(folder.path().string(), quiet());
  EXPECT_EQ(report.kind, LayoutKind::kSegmentation);
  EXPECT_TRUE(has(report.annotations, "label above the class count", "annotations/train/a.png"));
  EXPECT_TRUE(has(report.annotations, "wrong size", "annotations/train/b.png"));
  EXPECT_TRUE(has(report.annotations, "missing file", "images/train/c.png"));
  EXPECT_TRUE(has(report.annotations, "bad label map", "annotations/train/d.png"));
  EXPECT_EQ(report.annotations.size(), 4U);
  EXPECT_EQ(report.class_names.size(), 2U);
}

TEST(Inspect, ArchiveShapesAndList) {
  TemporaryFolder folder;
  testing::write_archive(folder.path() / "a.tgz", testing::ArchiveKind::kTarGz,
                         testing::class_set(2, 1));
  EXPECT_EQ(inspect_dataset((folder.path() / "a.tgz").string(), quiet()).pictures, 9);
  const DatasetReport shapes = inspect_dataset("shapes:count=80,seed=2", quiet());
  EXPECT_EQ(shapes.splits[0].class_counts, std::vector<std::int64_t>(8, 10));
  EXPECT_EQ(shapes.pictures, 100);
  testing::write_files(folder.path(),
                       {{"a.png", numbered_png(1)}, {"list.txt", to_bytes("a.png\nb.png\n")}});
  const DatasetReport list = inspect_dataset((folder.path() / "list.txt").string(), quiet());
  EXPECT_EQ(list.kind, LayoutKind::kList);
  EXPECT_TRUE(has(list.broken, "unreadable", "b.png"));
}

TEST(Inspect, NamesArePrintable) {
  EXPECT_EQ(printable("plain \xc3\xbc \xe5\xb1\xb1"), "plain \xc3\xbc \xe5\xb1\xb1");
  EXPECT_EQ(printable("a\xff\x1b[2J\xc3"), "a\\xff\\x1b[2J\\xc3");
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80");
  EXPECT_NO_THROW(Json(printable("\xf8\x88\x80")).dump());
}

}  // namespace
}  // namespace addp
