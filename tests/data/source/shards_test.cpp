// Shards in WebDataset's convention: patterns with braces, samples of several members.
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/inspect/inspect.h"
#include "data/load/open_dataset.h"
#include "data/small_sets.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using testing::ArchiveKind;
using testing::numbered_jpeg;
using testing::numbered_png;
using testing::TemporaryFolder;
using testing::to_bytes;
using Names = std::vector<std::string>;

// Samples first and first + 1; the same member names in every shard, as writers number them.
void write_shard(const std::filesystem::path& path, int first) {
  testing::write_archive(path, ArchiveKind::kTar,
                         {{"000000.jpg", numbered_jpeg(first)},
                          {"000000.cls", to_bytes(std::to_string(first) + "\n")},
                          {"000000.json", to_bytes("{}")},
                          {"000001.png", numbered_png(first + 1)},
                          {"000001.mask.png", numbered_png(99)},
                          {"000001.txt", to_bytes("a caption")},
                          {"000001.cls", to_bytes(std::to_string(first + 1))}});
}

TEST(Shards, BracesAreRangesAndAlternatives) {
  EXPECT_EQ(expand_shards("a-{008..011}.tar"),
            (Names{"a-008.tar", "a-009.tar", "a-010.tar", "a-011.tar"}));
  EXPECT_EQ(expand_shards("{train,val}-{0..1}"), (Names{"train-0", "train-1", "val-0", "val-1"}));
  EXPECT_EQ(expand_shards("s-{train-{0..1},val}.tar"),
            (Names{"s-train-0.tar", "s-train-1.tar", "s-val.tar"}));
  EXPECT_EQ(expand_shards("plain.tar"), (Names{"plain.tar"}));
  EXPECT_EQ(expand_shards("open{1.tar"), (Names{"open{1.tar"}));
  EXPECT_NE(testing::message_of<DataError>([] {
              expand_shards("a-{9..1}.tar");
            }).find("smaller number first"),
            std::string::npos);
  EXPECT_NE(
      testing::message_of<DataError>([] { expand_shards("{1..1000}{1..1000}"); }).find("more than"),
      std::string::npos);
}

TEST(Shards, AreOneSetWithClassesAndSplits) {
  TemporaryFolder folder;
  for (int i = 0; i < 3; ++i) {
    write_shard(folder.path() / ("set-train-0" + std::to_string(i) + ".tar"), 2 * i);
  }
  write_shard(folder.path() / "set-val-00.tar", 4);
  const std::string spec = (folder.path() / "set-{train-{00..02},val-00}.tar").string();
  const auto train = open_dataset(spec, "train", Task::kClassification);
  EXPECT_EQ(train->size(), 6);
  EXPECT_EQ(train->class_names(), (Names{"0", "1", "2", "3", "4", "5"}));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(train->class_of(i), i);
    EXPECT_EQ(train->get(i).picture().width, 24);
  }
  const auto val = open_dataset(spec, "val", Task::kClassification);
  EXPECT_EQ(val->size(), 2);
  EXPECT_EQ(val->class_of(1), 5);
  EXPECT_EQ(val->get(1).picture().pixels, testing::numbered_picture(5).pixels);
  EXPECT_NE(train->name(2).find("set-train-01.tar: 000000.jpg"), std::string::npos);
}

TEST(Shards, OneShardByItselfHasItsClasses) {
  TemporaryFolder folder;
  write_shard(folder.path() / "a.tar", 0);
  const auto set = open_dataset((folder.path() / "a.tar").string(), "train", Task::kClassification);
  EXPECT_EQ(set->size(), 2);
  EXPECT_EQ(set->class_names().size(), 2U);
}

TEST(Shards, AreInspected) {
  TemporaryFolder folder;
  write_shard(folder.path() / "a-0.tar", 0);
  testing::write_archive(
      folder.path() / "a-1.tar", ArchiveKind::kTar,
      {{"7.jpg", to_bytes("no picture")}, {"7.cls", to_bytes("1")}, {"8.png", numbered_png(8)}});
  InspectOptions options;
  options.progress = false;
  const DatasetReport report = inspect_dataset((folder.path() / "a-{0..1}.tar").string(), options);
  EXPECT_EQ(report.kind, LayoutKind::kShards);
  EXPECT_EQ(report.pictures, 4);
  ASSERT_EQ(report.broken.size(), 1U);
  EXPECT_NE(report.broken[0].file.find("a-1.tar: 7.jpg"), std::string::npos);
  ASSERT_EQ(report.annotations.size(), 1U);  // 8.png has no class
  EXPECT_EQ(report.splits.at(0).class_counts, (std::vector<std::int64_t>{1, 2}));
}

TEST(Shards, MistakesAreNamed) {
  TemporaryFolder folder;
  write_shard(folder.path() / "a-0.tar", 0);
  testing::write_files(folder.path(), {{"b-0.tar", to_bytes("not an archive at all")}});
  const auto open = [&](const char* pattern) {
    return testing::message_of<DataError>([&] { open_source(folder.path() / pattern); });
  };
  EXPECT_NE(open("a-{0..3}.tar").find("3 of its 4 shards are missing"), std::string::npos);
  EXPECT_NE(open("{a,b}-0.tar").find("b-0.tar: is no archive"), std::string::npos);
  testing::write_archive(folder.path() / "c.tar", ArchiveKind::kTar,
                         {{"1.jpg", numbered_jpeg(1)}, {"1.cls", to_bytes("dog")}});
  EXPECT_NE(open("c.tar").find("c.tar: 1.cls: holds no class number"), std::string::npos);
}

}  // namespace
}  // namespace addp
