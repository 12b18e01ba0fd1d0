#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "eval/recognition/classification_metrics.h"
#include "eval/recognition/confusion_matrix.h"
#include "eval/recognition/segmentation_metrics.h"
#include "nn/torch.h"

namespace addp {
namespace {

TEST(ConfusionMatrix, CountsAndIgnores) {
  ConfusionMatrix matrix(3);
  matrix.add(torch::tensor({{0, 0, 1}, {1, 2, 255}}), torch::tensor({{0, 1, 1}, {1, 0, 2}}), 255);
  EXPECT_EQ(matrix.counts(), (std::vector<std::int64_t>{1, 1, 0, 0, 2, 0, 1, 0, 0}));
  EXPECT_EQ(matrix.total(), 5);
  EXPECT_EQ(matrix.correct(), 3);
  EXPECT_EQ(matrix.truths(0), 2);
  EXPECT_EQ(matrix.predictions(0), 2);
  ConfusionMatrix twice(3);
  twice.add(matrix);
  twice.add(matrix);
  EXPECT_EQ(twice.total(), 10);
}

TEST(ConfusionMatrix, LabelsOutsideAreNamed) {
  ConfusionMatrix matrix(3);
  const auto prediction = torch::tensor({0, 0});
  try {
    matrix.add(torch::tensor({0, 17}), prediction, 255, {.truth = "street.png"});
    FAIL() << "label 17 was taken";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("street.png"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("17"), std::string::npos);
  }
  EXPECT_THROW(matrix.add(torch::tensor({0, 1}), torch::tensor({0, 3})), DataError);
  EXPECT_THROW(matrix.add(torch::tensor({0, 1}), torch::tensor({0})), UsageError);
  EXPECT_THROW(ConfusionMatrix(0), UsageError);
}

TEST(SegmentationMetrics, FiguresByHand) {
  ConfusionMatrix matrix(4);
  // class 0: 2 of 3 right; class 1: 1 of 1 right, one too many; class 2: predicted only;
  // class 3: absent
  matrix.add(torch::tensor({0, 0, 0, 1, 0}), torch::tensor({0, 0, 1, 1, 2}));
  const auto figures = segmentation_figures(matrix);
  EXPECT_NEAR(figures.class_iou[0], 2.0 / 4, 1e-12);
  EXPECT_NEAR(figures.class_iou[1], 1.0 / 2, 1e-12);
  EXPECT_EQ(figures.class_iou[2], 0);
  EXPECT_TRUE(std::isnan(figures.class_iou[3]));
  EXPECT_NEAR(figures.mean_iou, 1.0 / 3, 1e-12);
  EXPECT_NEAR(figures.mean_accuracy, (2.0 / 4 + 1) / 2, 1e-12);
  EXPECT_NEAR(figures.pixel_accuracy, 3.0 / 5, 1e-12);
  EXPECT_EQ(segmentation_figures(ConfusionMatrix(2)).mean_iou, 0);
}

TEST(Accuracy, TopOneAndTopFive) {
  Accuracy accuracy;
  const auto logits = torch::arange(10).to(torch::kFloat).expand({3, 10});
  accuracy.add(logits, torch::tensor({9, 5, 4}));
  EXPECT_NEAR(accuracy.top1(), 1.0 / 3, 1e-12);
  EXPECT_NEAR(accuracy.top5(), 2.0 / 3, 1e-12);
  Accuracy more;
  more.add(logits, torch::tensor({9, 9, 9}));
  more.add(accuracy);
  EXPECT_EQ(more.count(), 6);
  EXPECT_NEAR(more.top1(), 4.0 / 6, 1e-12);
}

TEST(Accuracy, ConstantAndNanOutputsScoreNothing) {
  Accuracy accuracy;
  accuracy.add(torch::zeros({4, 10}), torch::tensor({0, 1, 2, 3}));
  accuracy.add(torch::full({4, 10}, NAN), torch::tensor({0, 1, 2, 3}));
  EXPECT_EQ(accuracy.top1(), 0);
  EXPECT_EQ(accuracy.top5(), 0);
  EXPECT_EQ(accuracy.count(), 8);
}

TEST(Accuracy, SubsetsOfClasses) {
  const auto logits = torch::tensor({{5.0F, 1.0F, 3.0F, 2.0F}});
  EXPECT_TRUE(torch::equal(restrict_classes(logits, {3, 2}), torch::tensor({{2.0F, 3.0F}})));
  EXPECT_THROW(restrict_classes(logits, {4}), UsageError);
  EXPECT_THROW(rank_of_label(logits, torch::tensor({4})), DataError);
  EXPECT_THROW(rank_of_label(logits, torch::tensor({-1})), DataError);
}

}  // namespace
}  // namespace addp
