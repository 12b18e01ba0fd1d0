// Nearest neighbours, matching of classes, passes over a set and the confusion picture.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/error.h"
#include "data/load/open_dataset.h"
#include "eval/recognition/class_match.h"
#include "eval/recognition/classification_metrics.h"
#include "eval/recognition/confusion_picture.h"
#include "eval/recognition/knn.h"
#include "eval/recognition/picture_tensors.h"
#include "image/draw/draw.h"
#include "nn/torch.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

TEST(Knn, VotesWeighTheCosine) {
  const Tensor bank = torch::tensor({{1.0F, 0.0F}, {2.0F, 0.2F}, {0.0F, 3.0F}, {-1.0F, 0.0F}});
  const Tensor labels = torch::tensor({0, 1, 1, 2}, torch::kInt64);
  const Tensor query = torch::tensor({{5.0F, 0.0F}});
  const Tensor scores = knn_scores(bank, labels, query, 3, {.neighbours = 3, .temperature = 1});
  const double near = std::exp(2 / std::sqrt(4.04)) + 1;  // the third neighbour is at a right angle
  EXPECT_NEAR(scores[0][0].item<double>(), std::exp(1), 1e-5);
  EXPECT_NEAR(scores[0][1].item<double>(), near, 1e-5);
  EXPECT_EQ(scores[0][2].item<double>(), 0);
}

TEST(Knn, FindsClustersWhateverTheLengths) {
  torch::manual_seed(1);
  const Tensor centres = torch::eye(5).repeat({20, 1});
  const Tensor labels = torch::arange(5).repeat({20});
  const Tensor bank = centres + 0.1 * torch::randn({100, 5});
  const Tensor queries = (centres + 0.1 * torch::randn({100, 5})) * (1 + torch::rand({100, 1}));
  Accuracy accuracy;
  accuracy.add(knn_scores(bank, labels, queries, 5), labels);
  EXPECT_GT(accuracy.top1(), 0.97);
  EXPECT_THROW(knn_scores(bank, labels, torch::rand({2, 4}), 5), UsageError);
}

TEST(ClassMatch, ByKeyThenByNameAndSubsetsAreFine) {
  const auto shapes = open_dataset("shapes:size=16,count=8", "train", Task::kClassification);
  ModelClasses model{
      9,
      {"moon", "cross", "circle", "ring", "square", "triangle", "star", "heart", "x"},
      {"crescent", "b", "c", "d", "e", "f", "g", "h", "i"}};
  const auto matched = match_classes(model, *shapes);
  EXPECT_EQ(matched, (std::vector<std::int64_t>{2, 3, 4, 5, 6, 1, 7, 0}));
  model.names[1] = "plus";
  EXPECT_THROW(match_classes(model, *shapes), DataError);
  EXPECT_EQ(match_classes({8, {}, {}}, *shapes).size(), 8U);
  EXPECT_THROW(match_classes({9, {}, {}}, *shapes), DataError);
}

TEST(ClassMatch, ReadsAListOfClasses) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.path() / "c.txt") << "n01\ttench\nn02\tgoldfish\n";
  ModelClasses model{2, {}, {}};
  EXPECT_EQ(model.name(1), "class 1");
  read_class_file(model, folder.path() / "c.txt");
  EXPECT_EQ(model.name(1), "goldfish");
  EXPECT_EQ(model.keys[0], "n01");
  model.count = 3;
  EXPECT_THROW(read_class_file(model, folder.path() / "c.txt"), DataError);
}

TEST(TensorPass, EveryPictureOnceOverAllRanks) {
  const auto shapes = open_dataset("shapes:size=16,count=21", "train", Task::kClassification);
  std::multiset<std::int64_t> seen;
  for (int rank = 0; rank < 3; ++rank) {
    const TensorPass pass{.pictures = {.batch = 4, .threads = 1, .rank = rank, .world = 3},
                          .size = 16};
    for_each_batch(shapes, pass, [&](const PictureBatch& batch) {
      for (std::size_t i = 0; i < batch.indices.size(); ++i) {
        seen.insert(batch.indices[i]);
        EXPECT_EQ(batch.labels[static_cast<std::int64_t>(i)].item<std::int64_t>(),
                  shapes->class_of(batch.indices[i]));
      }
    });
  }
  EXPECT_EQ(seen.size(), 21U);
  EXPECT_EQ(std::set<std::int64_t>(seen.begin(), seen.end()).size(), 21U);
}

TEST(TensorPass, ALimitIsKept) {
  const auto shapes = open_dataset("shapes:size=16,count=21", "train", Task::kClassification);
  std::int64_t count = 0;
  const TensorPass pass{.pictures = {.limit = 6, .batch = 4, .threads = 1}, .size = 16};
  for_each_batch(shapes, pass, [&](const PictureBatch& batch) { count += batch.pixels.size(0); });
  EXPECT_EQ(count, 6);
}

TEST(ConfusionPicture, DarkWhereTheCountsAre) {
  ConfusionMatrix matrix(3);
  matrix.add(torch::tensor({0, 0, 1}, torch::kInt64), torch::tensor({0, 0, 2}, torch::kInt64));
  const Image image = confusion_picture(matrix, {"a", "b", "c"});
  const int cell = 30;
  const int left = measure_text("a 00").width + 14, top = image.height - 8 - 3 * cell;
  const auto red = [&](int truth, int guess) {
    return image.at(left + guess * cell + 2, top + truth * cell + 2)[0];
  };
  EXPECT_EQ(red(0, 0), 8);
  EXPECT_EQ(red(1, 2), 8);
  EXPECT_EQ(red(0, 1), 255);
  EXPECT_EQ(red(2, 2), 255);
  EXPECT_LE(confusion_picture(ConfusionMatrix(1000), {}).width, 1100);
}

}  // namespace
}  // namespace addp
