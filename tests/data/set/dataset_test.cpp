// Layouts as people have them on disk and in archives.
#include "data/set/dataset.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/log.h"
#include "data/load/open_dataset.h"
#include "data/set/datasets.h"
#include "data/set/layout.h"
#include "data/small_sets.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using testing::ArchiveKind;
using testing::NamedFiles;
using testing::numbered_png;
using testing::TemporaryFolder;
using testing::to_bytes;

class DatasetTest : public ::testing::Test {
 protected:
  std::string write(const NamedFiles& files, const std::string& name = "set") {
    testing::write_files(folder_.path() / name, files);
    return (folder_.path() / name).string();
  }
  Layout layout_of(const std::string& path) { return recognise_layout(*open_source(path)); }
  std::string error_of(const std::string& spec, const std::string& split, Task task) {
    try {
      open_dataset(spec, split, task);
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
};

Bytes label_png(const std::vector<std::uint8_t>& values, int width, int height) {
  GrayImage labels(width, height);
  for (std::size_t i = 0; i < labels.pixels.size(); ++i)
    labels.pixels[i] = values[i % values.size()];
  return encode_png(labels);
}

TEST_F(DatasetTest, ClassFoldersWithSplits) {
  const std::string path = write(testing::class_set(4, 2));
  EXPECT_EQ(layout_of(path).describe(), "image folder with 3 classes; splits train, val");
  const auto train = open_dataset(path, "train", Task::kClassification);
  const auto val = open_dataset(path, "val", Task::kClassification);
  EXPECT_EQ(train->size(), 12);
  EXPECT_EQ(val->size(), 6);
  EXPECT_EQ(train->class_names(), (std::vector<std::string>{"ant", "bee", "cat"}));
  EXPECT_EQ(open_dataset(path, "all", Task::kClassification)->size(), 18);
  std::vector<int> counts(3);
  for (std::int64_t i = 0; i < train->size(); ++i) {
    const Sample sample = train->get(i);
    EXPECT_EQ(sample.class_id, train->class_of(i));
    EXPECT_NE(sample.name.find(
                  "/" + train->class_names()[static_cast<std::size_t>(sample.class_id)] + "/"),
              std::string::npos);
    EXPECT_EQ(sample.picture().width, 24);
    ++counts[static_cast<std::size_t>(sample.class_id)];
  }
  EXPECT_EQ(counts, (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(dataset_splits(path), (std::vector<std::string>{"train", "val"}));
}

TEST_F(DatasetTest, ArchiveGivesWhatTheFolderGives) {
  NamedFiles inner;
  for (auto& [name, bytes] : testing::class_set(3, 1)) inner.emplace_back("wrapped/" + name, bytes);
  inner.emplace_back("README", to_bytes("about"));
  const std::string path = write(inner);
  for (const ArchiveKind kind : {ArchiveKind::kTar, ArchiveKind::kTarGz, ArchiveKind::kZip}) {
    const std::string archive = (folder_.path() / "set.archive").string();
    testing::write_archive(archive, kind, inner);
    const auto a = open_dataset(path, "train", Task::kClassification);
    const auto b = open_dataset(archive, "train", Task::kClassification);
    ASSERT_EQ(a->size(), b->size());
    EXPECT_EQ(a->class_names(), b->class_names());
    for (std::int64_t i = 0; i < a->size(); ++i) {
      EXPECT_EQ(a->get(i).picture(), b->get(i).picture());
      EXPECT_EQ(a->class_of(i), b->class_of(i));
    }
  }
}

TEST_F(DatasetTest, ClassesWithoutSplitsAndFlatFolders) {
  const std::string classes =
      write({{"x/1.png", numbered_png(1)}, {"y/2.png", numbered_png(2)}}, "classes");
  EXPECT_EQ(layout_of(classes).describe(), "image folder with 2 classes");
  EXPECT_EQ(open_dataset(classes, "train", Task::kClassification)->size(), 2);
  const std::string flat =
      write({{"1.png", numbered_png(1)}, {"deep/er/2", numbered_png(2)}, {"n.txt", to_bytes("")}},
            "flat");
  EXPECT_EQ(layout_of(flat).describe(), "image folder without classes");
  EXPECT_EQ(open_dataset(flat, "train", Task::kPictures)->size(), 2);
  EXPECT_EQ(open_dataset(flat, "all", Task::kPictures)->get(1).picture(),
            testing::numbered_picture(2));
  EXPECT_NE(error_of(flat, "val", Task::kPictures).find("has no split 'val'"), std::string::npos);
  EXPECT_NE(error_of(flat, "train", Task::kClassification).find("one folder per class"),
            std::string::npos);
  const std::string empty = write({{"a.txt", to_bytes("x")}}, "empty");
  EXPECT_NE(error_of(empty, "train", Task::kPictures).find("holds nothing"), std::string::npos);
}

TEST_F(DatasetTest, ATrainMayBeAClass) {
  const std::string path = write({{"train/1.png", numbered_png(1)},
                                  {"car/2.png", numbered_png(2)},
                                  {"ship/3.png", numbered_png(3)},
                                  {"bus/4.png", numbered_png(4)}});
  EXPECT_EQ(layout_of(path).describe(), "image folder with 4 classes");
}

TEST_F(DatasetTest, ValidationWithoutClassesBesideTrainingWithClasses) {
  const std::string path = write({{"train/a/1.png", numbered_png(1)},
                                  {"train/b/2.png", numbered_png(2)},
                                  {"val/images/3.png", numbered_png(3)}});
  const Layout layout = layout_of(path);
  EXPECT_EQ(layout.class_keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(layout.splits[1].classes.empty());
  EXPECT_EQ(open_dataset(path, "val", Task::kPictures)->size(), 1);
  EXPECT_NE(error_of(path, "val", Task::kClassification), "no error");
}

TEST_F(DatasetTest, ClassesTxtGivesNamesForPeople) {
  NamedFiles files = testing::class_set(2, 1);
  files.emplace_back("classes.txt", to_bytes("0\tant\tformica, emmet\n1\tbee\thoney bee\n"));
  const auto set = open_dataset(write(files), "train", Task::kClassification);
  EXPECT_EQ(set->class_names(), (std::vector<std::string>{"formica", "honey bee", "cat"}));
  EXPECT_EQ(set->class_keys(), (std::vector<std::string>{"ant", "bee", "cat"}));
}

TEST_F(DatasetTest, ListsWithAndWithoutClasses) {
  const std::string path = write({{"p/1.png", numbered_png(1)},
                                  {"p/2.png", numbered_png(2)},
                                  {"p/3.png", numbered_png(3)},
                                  {"plain.txt", to_bytes("p/3.png\np/1.png\n")},
                                  {"numbers.txt", to_bytes("p/1.png 2\np/2.png 0\n")},
                                  {"names.txt", to_bytes("p/1.png\tzebra\np/2.png\tape\n")}});
  const auto plain = open_dataset(path + "/plain.txt", "train", Task::kPictures);
  EXPECT_EQ(plain->get(0).picture(), testing::numbered_picture(3));
  const auto numbers = open_dataset(path + "/numbers.txt", "train", Task::kClassification);
  EXPECT_EQ(numbers->class_of(0), 2);
  EXPECT_EQ(numbers->class_names().size(), 3U);
  const auto names = open_dataset(path + "/names.txt", "train", Task::kClassification);
  EXPECT_EQ(names->class_of(0), 1);
  EXPECT_EQ(names->class_names(), (std::vector<std::string>{"ape", "zebra"}));
  EXPECT_NE(error_of(path + "/plain.txt", "train", Task::kClassification), "no error");
}

Bytes cifar_records(int labels, int count, int classes) {
  Bytes bytes;
  for (int i = 0; i < count; ++i) {
    for (int l = 0; l < labels; ++l)
      bytes.push_back(static_cast<std::uint8_t>(l + 1 < labels ? 0 : i % classes));
    for (int p = 0; p < 3072; ++p)
      bytes.push_back(static_cast<std::uint8_t>(p / 1024 * 50 + (p + i) % 32));
  }
  return bytes;
}

TEST_F(DatasetTest, CifarBinaries) {
  const std::string ten = write({{"cifar-10-batches-bin/data_batch_1.bin", cifar_records(1, 7, 10)},
                                 {"cifar-10-batches-bin/data_batch_2.bin", cifar_records(1, 5, 10)},
                                 {"cifar-10-batches-bin/test_batch.bin", cifar_records(1, 3, 10)}},
                                "ten");
  const auto train = open_dataset(ten, "train", Task::kClassification);
  EXPECT_EQ(train->size(), 12);
  EXPECT_EQ(open_dataset(ten, "val", Task::kClassification)->size(), 3);
  EXPECT_EQ(train->class_names()[3], "cat");
  const Sample sample = train->get(9);  // record 2 of the second file
  EXPECT_EQ(sample.class_id, 2);
  EXPECT_EQ(sample.image.at(5, 1)[0], 7);
  EXPECT_EQ(sample.image.at(5, 1)[2], 107);
  EXPECT_NE(sample.name.find("data_batch_2.bin: record 2"), std::string::npos);

  const std::string hundred = write(
      {{"train.bin", cifar_records(2, 4, 100)}, {"test.bin", cifar_records(2, 2, 100)}}, "hundred");
  EXPECT_EQ(open_dataset(hundred, "train", Task::kClassification)->class_of(3), 3);
  Bytes cut = cifar_records(1, 2, 10);
  cut.pop_back();
  EXPECT_NE(error_of(write({{"data_batch_1.bin", cut}}, "cut"), "train", Task::kPictures)
                .find("complete"),
            std::string::npos);
  Bytes wrong = cifar_records(1, 2, 10);
  wrong[3073] = 10;
  EXPECT_NE(error_of(write({{"data_batch_1.bin", wrong}}, "wrong"), "train", Task::kPictures)
                .find("record 1 has the label 10"),
            std::string::npos);
}

TEST_F(DatasetTest, SegmentationWithVoidClass) {
  const std::string path = write({{"images/train/a.png", numbered_png(1, 6, 4)},
                                  {"annotations/train/a.png", label_png({0, 1, 2, 255}, 6, 4)},
                                  {"images/val/b.png", numbered_png(2, 6, 4)},
                                  {"annotations/val/b.png", label_png({1}, 6, 4)},
                                  {"classes.txt", to_bytes("sky\nroad\nvoid\n")}});
  EXPECT_EQ(layout_of(path).describe(), "segmentation; splits train, val");
  const auto set = open_dataset(path, "train", Task::kSegmentation);
  EXPECT_EQ(set->class_names(), (std::vector<std::string>{"sky", "road"}));
  const Sample sample = set->get(0);
  EXPECT_EQ(sample.labels.row(0)[0], 0);
  EXPECT_EQ(sample.labels.row(0)[1], 1);
  EXPECT_EQ(sample.labels.row(0)[2], kIgnoreLabel);
  EXPECT_EQ(sample.labels.row(0)[3], kIgnoreLabel);
  EXPECT_EQ(sample.picture().width, 6);
  EXPECT_EQ(open_dataset(path, "all", Task::kPictures)->size(), 2);  // label maps are no pictures
}

TEST_F(DatasetTest, SegmentationOptions) {
  const std::string path = write({{"images/a.png", numbered_png(1, 6, 4)},
                                  {"annotations/a.png", label_png({0, 1, 2, 3}, 6, 4)}});
  EXPECT_EQ(open_dataset(path, "train", Task::kSegmentation)->class_names().size(), 4U);
  // Three classes are left, and the file's labels 0, 1, 2 have become these.
  const auto expect_labels = [&](const DatasetOptions& options, const Bytes& wanted) {
    const auto set = open_dataset(path, "train", Task::kSegmentation, options);
    EXPECT_EQ(set->class_names().size(), 3U);
    const GrayImage labels = set->get(0).labels;
    EXPECT_EQ(Bytes(labels.row(0), labels.row(0) + 3), wanted);
  };
  DatasetOptions options;
  options.reduce_zero_label = true;
  expect_labels(options, {kIgnoreLabel, 0, 1});
  options = {};
  options.ignore_label = 1;
  expect_labels(options, {0, kIgnoreLabel, 1});
  options = {};
  options.num_classes = 3;
  const auto few = open_dataset(path, "train", Task::kSegmentation, options);
  try {
    few->get(0);
    FAIL() << "a label above the class count was accepted";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("annotations/a.png: has the label 3"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(DatasetTest, SegmentationMismatchAndMissingMaps) {
  const std::string path = write({{"images/a.png", numbered_png(1, 6, 4)},
                                  {"annotations/a.png", label_png({0}, 5, 4)},
                                  {"classes.txt", to_bytes("one\n")}});
  EXPECT_THROW(open_dataset(path, "train", Task::kSegmentation)->get(0).picture(), DataError);
  testing::write_files(path, {{"images/b.png", numbered_png(2, 6, 4)}});
  EXPECT_NE(error_of(path, "train", Task::kSegmentation).find("1 of 2 label maps are missing"),
            std::string::npos);
}

TEST_F(DatasetTest, MasksOfCocoAreLabelMaps) {
  // A box of four by four, a smaller thing in front of it, and a crowd.
  const std::string json = R"({"images": [{"id": 7, "file_name": "a.png", "width": 8, "height": 6}],
    "categories": [{"id": 3, "name": "cell"}, {"id": 9, "name": "grain"}],
    "annotations": [
      {"id": 1, "image_id": 7, "category_id": 9, "bbox": [1, 1, 2, 2], "area": 4, "iscrowd": 0,
       "segmentation": [[1, 1, 3, 1, 3, 3, 1, 3]]},
      {"id": 2, "image_id": 7, "category_id": 3, "bbox": [0, 0, 4, 4], "area": 16, "iscrowd": 0,
       "segmentation": [[0, 0, 4, 0, 4, 4, 0, 4]]},
      {"id": 3, "image_id": 7, "category_id": 3, "bbox": [6, 0, 2, 6], "area": 12, "iscrowd": 1,
       "segmentation": {"size": [6, 8], "counts": [36, 12]}}]})";
  const std::string path = write({{"annotations/instances_train2017.json", to_bytes(json)},
                                  {"train2017/a.png", numbered_png(1, 8, 6)}});
  const auto set = open_dataset(path, "train", Task::kSegmentation);
  EXPECT_EQ(set->class_names(), (std::vector<std::string>{"background", "cell", "grain"}));
  const Sample sample = set->get(0);
  ASSERT_EQ(sample.labels.width, 8);
  ASSERT_EQ(sample.labels.height, 6);
  EXPECT_EQ(sample.labels.row(0)[0], 1);
  EXPECT_EQ(sample.labels.row(2)[2], 2);
  EXPECT_EQ(sample.labels.row(3)[3], 1);
  EXPECT_EQ(sample.labels.row(5)[0], 0);
  EXPECT_EQ(sample.labels.row(5)[7], kIgnoreLabel);
  EXPECT_TRUE(sample.instances.empty());
}

TEST_F(DatasetTest, AShareOfTheLabelsKeepsEveryClass) {
  const std::string path = write(testing::class_set(20, 1));
  const auto whole = open_dataset(path, "train", Task::kClassification);
  const auto names_of = [&](double share, std::uint64_t seed) {
    std::set<std::string> names;
    const auto part = share_of_labels(whole, share, seed);
    std::vector<int> counts(3);
    for (std::int64_t i = 0; i < part->size(); ++i) {
      names.insert(part->name(i));
      ++counts.at(static_cast<std::size_t>(part->class_of(i)));
      EXPECT_EQ(part->get(i).class_id, part->class_of(i));
    }
    const int expected = std::max(1, static_cast<int>(20 * share));
    EXPECT_EQ(counts, (std::vector<int>{expected, expected, expected}));
    return names;
  };
  EXPECT_EQ(names_of(0.25, 1), names_of(0.25, 1));
  EXPECT_NE(names_of(0.25, 1), names_of(0.25, 2));
  names_of(0.001, 1);
  EXPECT_EQ(share_of_labels(whole, 1, 1), whole);
}

TEST_F(DatasetTest, WrongTaskNamesFoundAndExpected) {
  const std::string path = write(testing::class_set(1, 1));
  const std::string message = error_of(path, "train", Task::kDetection);
  EXPECT_NE(message.find(path), std::string::npos);
  EXPECT_NE(message.find("image folder with 3 classes"), std::string::npos);
  EXPECT_NE(message.find("instances_<split>.json"), std::string::npos);
  EXPECT_NE(error_of(path + "/none", "train", Task::kPictures).find("does not exist"),
            std::string::npos);
}

TEST(Layouts, SplitNames) {
  EXPECT_EQ(canonical_split("train2017"), "train");
  EXPECT_EQ(canonical_split("Training"), "train");
  EXPECT_EQ(canonical_split("validation"), "val");
  EXPECT_EQ(canonical_split("valid"), "val");
  EXPECT_EQ(canonical_split("test-2"), "test");
  EXPECT_EQ(canonical_split("extra"), "extra");
}

}  // namespace
}  // namespace addp
