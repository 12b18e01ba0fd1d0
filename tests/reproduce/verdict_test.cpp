// When a claim holds.
#include "reproduce/page/verdict.h"

#include <gtest/gtest.h>

#include <cmath>

namespace addp {
namespace {

double difference(const std::vector<double>& m) { return m[0] - m[1]; }

Evidence seen(const std::vector<double>& values, std::optional<double> variance) {
  return {figure_of(values), variance};
}

TEST(Verdict, MeanAndDeviationOverSeeds) {
  const Figure figure = figure_of({1, 3});
  EXPECT_DOUBLE_EQ(figure.mean, 2);
  EXPECT_DOUBLE_EQ(figure.deviation, std::sqrt(2));
  EXPECT_EQ(figure_of({5}).deviation, 0);
}

TEST(Verdict, PooledOverCellsWithSeveralSeeds) {
  EXPECT_FALSE(pooled_variance({figure_of({1}), figure_of({4})}));
  // Squared deviations 2 and 8 of one degree of freedom each.
  EXPECT_DOUBLE_EQ(*pooled_variance({figure_of({1, 3}), figure_of({2, 6}), figure_of({9})}), 5);
}

TEST(Verdict, BeyondTwiceTheErrorItIsDecided) {
  // The error of a difference of means of two seeds with variance 1 is 1.
  const auto verdict = [](double a, double b) {
    return judge(difference, {seen({a, a}, 1.0), seen({b, b}, 1.0)});
  };
  EXPECT_EQ(verdict(5, 2.9).verdict, Verdict::kHolds);
  EXPECT_EQ(verdict(2.9, 5).verdict, Verdict::kDoesNotHold);
  EXPECT_EQ(verdict(5, 3.1).verdict, Verdict::kCannotBeTold);
  EXPECT_NEAR(verdict(5, 3.1).margin, 2, 1e-6);
  EXPECT_NEAR(verdict(5, 3.1).advantage, 1.9, 1e-9);
}

TEST(Verdict, ASingleSeedNeedsTheSpreadOfOthers) {
  EXPECT_EQ(judge(difference, {seen({9}, {}), seen({1}, {})}).verdict, Verdict::kCannotBeTold);
  EXPECT_EQ(judge(difference, {seen({9}, 1.0), seen({1}, 1.0)}).verdict, Verdict::kHolds);
}

TEST(Verdict, WhatIsMissingIsNotMeasured) {
  EXPECT_EQ(judge(difference, {seen({9}, 1.0), {}}).verdict, Verdict::kNotMeasured);
}

TEST(Verdict, WithoutADifferenceNothingIsClaimed) {
  EXPECT_EQ(judge(difference, {seen({3, 3}, 0.0), seen({3, 3}, 0.0)}).verdict,
            Verdict::kCannotBeTold);
}

TEST(Verdict, ErrorsGoThroughRatios) {
  const auto ratio = [](const std::vector<double>& m) { return m[0] / m[1] - 1; };
  // d/da = 1/b = 1/2, d/db = -a/b^2 = -1: error sqrt(0.25 * 0.04 + 1 * 0.04).
  const Judgement judgement = judge(ratio, {seen({4}, 0.04), seen({2}, 0.04)});
  EXPECT_NEAR(judgement.margin, 2 * std::sqrt(0.05), 1e-6);
}

TEST(Verdict, FiguresThatAllowNoComparison) {
  const auto ratio = [](const std::vector<double>& m) { return m[0] / m[1]; };
  EXPECT_EQ(judge(ratio, {seen({1}, 1.0), seen({0}, 1.0)}).verdict, Verdict::kCannotBeTold);
}

}  // namespace
}  // namespace addp
