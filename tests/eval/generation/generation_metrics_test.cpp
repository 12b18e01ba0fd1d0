#include "eval/generation/generation_metrics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "eval/generation/normal_rows.h"
#include "nn/torch.h"
#include "support/fixtures.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

FeatureStatistics statistics_of(const Tensor& features, std::int64_t batch = 1000) {
  FeatureStatistics statistics;
  for (const auto& part : features.split(batch)) statistics.add(part);
  return statistics;
}

struct Fixture {
  std::map<std::string, Tensor> tensors;
  nlohmann::json answers;
};

Fixture load_fixture(const std::filesystem::path& folder) {
  std::ifstream file(folder / "generation_metrics.json");
  return {testing::load_tensors(folder / "generation_metrics.safetensors"),
          nlohmann::json::parse(file)};
}

TEST(GenerationMetrics, EqualTheReferenceTools) {
  ADDP_REQUIRE_FIXTURE(folder, "ops");
  auto [f, answers] = load_fixture(folder);
  const double fid = frechet_distance(statistics_of(f["real"]), statistics_of(f["fake"]));
  const double expected_fid = answers["fid"]["frechet_inception_distance"];
  EXPECT_NEAR(fid, expected_fid, 1e-8 * std::abs(expected_fid));
  const auto score = inception_score(f["logits"], 10);
  const auto& isc = answers["isc_shuffle_false_splits10"];
  EXPECT_NEAR(score.mean, isc["inception_score_mean"].get<double>(), 1e-9);
  EXPECT_NEAR(score.deviation, isc["inception_score_std"].get<double>(), 1e-9);
  EXPECT_NEAR(kernel_distance(f["real"], f["fake"]), answers["kid_whole_set"].get<double>(), 1e-9);
}

// torch-fidelity takes its first set for the reference, and the fixture gave it `fake` first.
TEST(GenerationMetrics, PrecisionAndRecallEqualTheReferenceTool) {
  ADDP_REQUIRE_FIXTURE(folder, "ops");
  auto [f, answers] = load_fixture(folder);
  const auto result = precision_recall(/*reference=*/f["fake"], /*generated=*/f["real"], 3);
  EXPECT_NEAR(result.precision, answers["prc_k3"]["precision"].get<double>(), 1e-6);
  EXPECT_NEAR(result.recall, answers["prc_k3"]["recall"].get<double>(), 1e-6);
}

TEST(GenerationMetrics, PrecisionIsAboutTheGeneratedPictures) {
  // The generated ones are all near one reference picture: precise, but covering little.
  const auto reference = testing::normal_rows(200, 8, 1);
  const auto generated = reference[0] + 1e-3 * testing::normal_rows(100, 8, 2);
  const auto result = precision_recall(reference, generated);
  EXPECT_EQ(result.precision, 1);
  EXPECT_LT(result.recall, 0.05);
  const auto same = precision_recall(reference, reference);
  EXPECT_EQ(same.precision, 1);
  EXPECT_EQ(same.recall, 1);
}

TEST(GenerationMetrics, StatisticsDoNotDependOnTheBatches) {
  const auto features =
      testing::normal_rows(300, 12, 3) * 0.1 + 1000;  // far from zero: cancellation would show
  const auto whole = statistics_of(features), parts = statistics_of(features, 7);
  EXPECT_EQ(parts.count(), 300);
  EXPECT_TRUE(torch::allclose(parts.mean(), features.to(torch::kDouble).mean(0), 1e-12, 1e-9));
  EXPECT_TRUE(torch::allclose(parts.covariance(), torch::cov(features.to(torch::kDouble).t()), 1e-9,
                              1e-12));
  EXPECT_TRUE(torch::allclose(parts.covariance(), whole.covariance(), 1e-9, 1e-12));

  auto joined = statistics_of(features.slice(0, 0, 100));
  joined.add(statistics_of(features.slice(0, 100)));
  EXPECT_EQ(joined.count(), 300);
  EXPECT_TRUE(torch::allclose(joined.covariance(), whole.covariance(), 1e-9, 1e-12));
}

TEST(GenerationMetrics, FidOfKnownGaussians) {
  // For diagonal covariances the distance is sum (m1 - m2)^2 + (s1 - s2)^2 over
  // standard deviations s.
  const auto m1 = torch::tensor({0.0, 1.0, 2.0}, torch::kDouble);
  const auto m2 = torch::tensor({1.0, 1.0, 0.0}, torch::kDouble);
  const auto s1 = torch::tensor({1.0, 2.0, 0.0}, torch::kDouble);  // singular
  const auto s2 = torch::tensor({3.0, 2.0, 1.0}, torch::kDouble);
  const FeatureStatistics a(m1, torch::diag(s1 * s1), 0), b(m2, torch::diag(s2 * s2), 0);
  const double expected = ((m1 - m2).pow(2) + (s1 - s2).pow(2)).sum().item<double>();
  EXPECT_NEAR(frechet_distance(a, b), expected, 1e-10);
  EXPECT_NEAR(frechet_distance(b, a), expected, 1e-10);
  EXPECT_NEAR(frechet_distance(b, b), 0, 1e-10);
}

TEST(GenerationMetrics, FidOfFewerPicturesThanFeaturesIsStable) {
  const auto a = statistics_of(testing::normal_rows(20, 64, 5)),
             b = statistics_of(testing::normal_rows(25, 64, 6));
  EXPECT_NEAR(frechet_distance(a, a), 0, 1e-5);
  EXPECT_NEAR(frechet_distance(a, b), frechet_distance(b, a), 1e-5);
}

TEST(GenerationMetrics, FidOfTheFeaturesIsThatOfTheirStatistics) {
  const auto a = testing::normal_rows(20, 64, 5), b = 2 * testing::normal_rows(90, 64, 6) + 1;
  const double expected = frechet_distance(statistics_of(a), statistics_of(b));
  EXPECT_NEAR(frechet_distance(a, b), expected, 1e-5 * expected);
  EXPECT_NEAR(frechet_distance(b, a), expected, 1e-5 * expected);
  EXPECT_NEAR(frechet_distance(a, a), 0, 1e-4);
}

TEST(GenerationMetrics, InceptionScoreBounds) {
  // Every picture certain of its own class: the score is the number of classes; no certainty: one.
  EXPECT_NEAR(inception_score(100 * torch::eye(10), 1).mean, 10, 1e-6);
  EXPECT_NEAR(inception_score(torch::zeros({20, 10}), 2).mean, 1, 1e-12);
}

TEST(GenerationMetrics, WrongSetsAreRefused) {
  EXPECT_THROW(precision_recall(torch::zeros({3, 4}), torch::zeros({9, 4}), 3), UsageError);
  EXPECT_THROW(kernel_distance(torch::zeros({3, 4}), torch::zeros({9, 5})), UsageError);
  EXPECT_THROW(inception_score(torch::zeros({5, 4}), 10), UsageError);
  EXPECT_THROW(statistics_of(torch::zeros({1, 4})).covariance(), UsageError);
  EXPECT_THROW(FeatureStatistics().mean(), UsageError);
  auto unknown = FeatureStatistics(torch::zeros({2}), torch::eye(2), 0);
  EXPECT_THROW(unknown.add(torch::zeros({5, 2})), UsageError);
  auto grown = FeatureStatistics();
  EXPECT_THROW(grown.add(torch::full({2, 2}, NAN)), NonFiniteError);
}

}  // namespace
}  // namespace addp
