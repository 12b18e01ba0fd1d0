#include "data/coco/coco.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/load/open_dataset.h"
#include "data/set/dataset.h"
#include "data/small_sets.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using Json = nlohmann::json;
using testing::numbered_png;
using testing::TemporaryFolder;
using testing::to_bytes;

Json good_file() {
  return {
      {"info", {{"nested", {{"deep", Json::array({1, 2})}}}}},
      {"categories", Json::array({{{"id", 7}, {"name", "dog"}}, {{"id", 3}, {"name", "cat"}}})},
      {"images", Json::array({{{"id", 11}, {"file_name", "b.png"}, {"width", 24}, {"height", 20}},
                              {{"id", 5}, {"file_name", "a.png"}, {"width", 24}, {"height", 20}}})},
      {"annotations",
       Json::array({{{"id", 1},
                     {"image_id", 5},
                     {"category_id", 7},
                     {"bbox", {2, 3, 8, 6}},
                     {"area", 30.5},
                     {"iscrowd", 0},
                     {"segmentation", Json::array({Json::array({2, 3, 10, 3, 10, 9, 2, 9})})}},
                    {{"id", 2},
                     {"image_id", 5},
                     {"category_id", 3},
                     {"bbox", {0, 0, 24, 10}},
                     {"area", 240},
                     {"iscrowd", 1},
                     {"segmentation", {{"size", {20, 24}}, {"counts", {0, 10, 470}}}}}})}};
}

CocoFile parse(const Json& json) {
  const Bytes bytes = to_bytes(json.dump());
  return parse_coco(bytes, "gt.json");
}

std::vector<std::string> kinds(const CocoFile& file) {
  std::vector<std::string> out;
  for (const DataProblem& p : file.problems) out.push_back(p.kind + "/" + p.id);
  return out;
}

TEST(Coco, ReadsPolygonsAndRuns) {
  const CocoFile file = parse(good_file());
  EXPECT_TRUE(file.problems.empty());
  ASSERT_EQ(file.annotations.size(), 2U);
  EXPECT_EQ(file.class_of(3), 0);  // sorted by id
  EXPECT_EQ(file.class_of(7), 1);
  EXPECT_EQ(file.class_of(4), -1);
  EXPECT_EQ(file.find_image(5)->file_name, "a.png");
  EXPECT_EQ(file.find_image(6), nullptr);
  EXPECT_EQ(rle_area(coco_mask(file.annotations[0].mask, 20, 24)), 48);
  EXPECT_EQ(rle_area(coco_mask(file.annotations[1].mask, 20, 24)), 10);
  EXPECT_TRUE(file.annotations[1].crowd);
  EXPECT_EQ(file.annotations[0].area, 30.5);
}

TEST(Coco, NamesEveryBadAnnotation) {
  Json json = good_file();
  Json& list = json["annotations"];
  const auto add = [&](int id, const Json& changes) {
    Json record = good_file()["annotations"][0];
    record["id"] = id;
    record.update(changes);
    list.push_back(record);
  };
  add(100, {{"category_id", 99}});
  add(101, {{"image_id", 99}});
  add(102, {{"bbox", {30, 3, 8, 6}}});
  add(103, {{"bbox", {2, 3, 0, 6}}});
  add(104, {{"segmentation", Json::array({Json::array({1, 1, 2, 2})})}});
  add(105, {{"segmentation", {{"size", {20, 24}}, {"counts", {1, 2, 3}}}}});
  add(106, {{"segmentation", {{"size", {10, 10}}, {"counts", {0, 10, 90}}}}});
  add(107, {{"bbox", "wide"}});
  add(1, Json::object());
  list.push_back(17);
  list.push_back({{"image_id", 5}});
  const CocoFile file = parse(json);
  const std::vector<std::string> expected{
      "bad polygon/annotation 104",       "bad mask/annotation 105",
      "bad box/annotation 107",           "bad record/annotation without id",
      "bad record/annotation without id", "double id/annotation 1",
      "unknown class/annotation 100",     "unknown image/annotation 101",
      "box outside/annotation 102",       "empty box/annotation 103",
      "bad mask/annotation 106"};
  EXPECT_EQ(kinds(file), expected);
  for (const DataProblem& p : file.problems) EXPECT_EQ(p.file, "gt.json");
  EXPECT_EQ(file.annotations.size(),
            7U);  // 1, 2, and 102 to 106, which an evaluator counts as they stand
}

TEST(Coco, RefusesWhatIsNoCocoFile) {
  for (const char* text : {"", "[]", "{}", "{\"images\": []}", "{\"images\": [1,", "\xff\xfe", "3",
                           "null", "{\"a\": [}"}) {
    const Bytes bytes = to_bytes(text);
    EXPECT_THROW(parse_coco(bytes, "x.json"), DataError) << text;
  }
  const std::string deep = "{\"annotations\": [" + std::string(100'000, '[');
  EXPECT_THROW(parse_coco(to_bytes(deep), "x.json"), DataError);
  CocoLimits limits;
  limits.max_records = 2;
  EXPECT_THROW(parse_coco(to_bytes(good_file().dump()), "x.json", limits), DataError);
}

TEST(Coco, LimitsWhatItReports) {
  Json json = good_file();
  for (int i = 0; i < 50; ++i) json["annotations"].push_back(i);
  CocoLimits limits;
  limits.max_problems = 10;
  const CocoFile file = parse_coco(to_bytes(json.dump()), "x.json", limits);
  EXPECT_EQ(file.problems.size(), 11U);
  EXPECT_EQ(file.problems.back().text, "has 40 further problems");
}

TEST(Coco, Detections) {
  const Json good =
      Json::array({{{"image_id", 5}, {"category_id", 7}, {"score", 0.5}, {"bbox", {1, 2, 3, 4}}},
                   {{"image_id", 5},
                    {"category_id", 7},
                    {"score", 1},
                    {"segmentation", {{"size", {4, 4}}, {"counts", {5, 2, 9}}}}}});
  const auto detections = parse_coco_detections(to_bytes(good.dump()), "d.json");
  ASSERT_EQ(detections.size(), 2U);
  EXPECT_EQ(detections[0].area, 12);
  EXPECT_EQ(detections[1].box, (CocoBox{1, 1, 1, 2}));
  EXPECT_TRUE(parse_coco_detections(to_bytes("[]"), "d.json").empty());
  for (const char* bad : {"{}", "[3]", "[{\"image_id\": 1}]",
                          "[{\"image_id\": 1, \"category_id\": 1, \"score\": 1}]", "["}) {
    EXPECT_THROW(parse_coco_detections(to_bytes(bad), "d.json"), DataError) << bad;
  }
}

TEST(CocoSet, CutsBoxesAndGivesMasks) {
  TemporaryFolder folder;
  Json json = good_file();
  json["annotations"][0]["bbox"] = {-5, 3, 15, 6};
  json["annotations"].push_back(
      {{"id", 9}, {"image_id", 5}, {"category_id", 3}, {"bbox", {40, 3, 8, 6}}, {"area", 1}});
  testing::write_files(folder.path(),
                       {{"annotations/instances_train2017.json", to_bytes(json.dump())},
                        {"train2017/a.png", numbered_png(1)},
                        {"train2017/b.png", numbered_png(2)}});
  const auto set = open_dataset(folder.path().string(), "train", Task::kDetection);
  EXPECT_EQ(set->class_names(), (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(set->size(), 2);
  const Sample sample = set->get(0);
  EXPECT_EQ(sample.id, 5);
  ASSERT_EQ(sample.instances.size(), 2U);  // the one outside is left out
  EXPECT_EQ(sample.instances[0].box, (CocoBox{0, 3, 10, 6}));
  EXPECT_EQ(sample.instances[0].class_id, 1);
  EXPECT_EQ(rle_area(sample.instances[0].mask), 48);
  EXPECT_TRUE(sample.instances[1].crowd);
  EXPECT_EQ(sample.picture(), testing::numbered_picture(1));
  EXPECT_TRUE(set->get(1).instances.empty());
  EXPECT_EQ(set->problems().size(), 2U);
  DatasetOptions options;
  options.only_annotated = true;
  EXPECT_EQ(open_dataset(folder.path().string(), "train", Task::kDetection, options)->size(), 1);
}

// Pictures of 24x20 hold five squares of ten pixels, none of a hundred.
TEST(CocoSet, PicturesCountAsOftenAsTheyHoldParts) {
  TemporaryFolder folder;
  testing::write_files(folder.path(),
                       {{"annotations/instances_train.json", to_bytes(good_file().dump())},
                        {"train/a.png", numbered_png(1)},
                        {"train/b.png", numbered_png(2)}});
  const auto pictures = [&](double part_side) {
    DatasetOptions options;
    options.part_side = part_side;
    return open_dataset(folder.path().string(), "train", Task::kDetection, options);
  };
  const auto once = pictures(0), often = pictures(10);
  EXPECT_EQ(once->size(), 2);
  EXPECT_EQ(pictures(100)->size(), 2);
  ASSERT_EQ(often->size(), 10);
  EXPECT_EQ(often->get(4).id, once->get(0).id);
  EXPECT_EQ(often->get(5).id, once->get(1).id);
  EXPECT_EQ(often->description(), once->description());
  EXPECT_EQ(pictures(1e-6)->size(), 512);  // a picture that claims a vast size is no more
}

TEST(CocoSet, OnlyTheClassesAskedFor) {
  TemporaryFolder folder;
  testing::write_files(folder.path(),
                       {{"annotations/instances_train.json", to_bytes(good_file().dump())},
                        {"train/a.png", numbered_png(1)},
                        {"train/b.png", numbered_png(2)}});
  const auto whole = open_dataset(folder.path().string(), "train", Task::kDetection);
  DatasetOptions options;
  options.only_classes = {"dog"};
  const auto dogs = open_dataset(folder.path().string(), "train", Task::kDetection, options);
  EXPECT_EQ(dogs->class_names(), std::vector<std::string>{"dog"});
  ASSERT_EQ(dogs->size(), whole->size());
  std::vector<std::int64_t> expected, found;
  for (std::int64_t i = 0; i < whole->size(); ++i) {
    for (const Instance& instance : whole->get(i).instances) {
      if (instance.class_id == 1) expected.push_back(instance.id);
    }
    for (const Instance& instance : dogs->get(i).instances) {
      EXPECT_EQ(instance.class_id, 0);
      found.push_back(instance.id);
    }
  }
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(found, expected);
  options.only_classes = {"dgo"};
  try {
    open_dataset(folder.path().string(), "train", Task::kDetection, options);
    FAIL() << "there is no such class";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'dog'"), std::string::npos);
  }
  EXPECT_THROW(open_dataset("shapes", "train", Task::kDetection, options), UsageError);
}

TEST(CocoSet, PictureOfAnotherSizeAndMissingFiles) {
  TemporaryFolder folder;
  testing::write_files(folder.path(),
                       {{"annotations/instances_val.json", to_bytes(good_file().dump())},
                        {"images/val/a.png", numbered_png(1, 30, 30)},
                        {"images/val/b.png", numbered_png(2)}});
  const auto set = open_dataset(folder.path().string(), "val", Task::kDetection);
  EXPECT_THROW(set->get(0).picture(), DataError);
  std::filesystem::remove(folder.path() / "images/val/b.png");
  try {
    open_dataset(folder.path().string(), "val", Task::kDetection);
    FAIL() << "half of the pictures are missing";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("b.png"), std::string::npos);
  }
}

}  // namespace
}  // namespace addp
