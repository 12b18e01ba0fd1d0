#include "eval/generation/generation_report.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

FeatureSet set_of(std::int64_t rows, double shift, std::uint64_t seed,
                  const std::string& hash = "h") {
  const auto features = torch::empty({rows, 8});
  RandomStream(seed, "test")
      .fill_normal({features.data_ptr<float>(), std::size_t(features.numel())});
  FeatureSet set;
  set.features = features + shift;
  set.statistics.add(set.features);
  set.provenance = {hash, "set " + std::to_string(seed), "none"};
  return set;
}

bool mentions(const GenerationFigures& figures, const std::string& text) {
  for (const auto& line : figures.protocol) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(GenerationReport, EveryFigureAndItsProtocol) {
  const auto near = compare_sets(set_of(200, 0, 1), set_of(300, 0, 2));
  const auto far = compare_sets(set_of(200, 5, 1), set_of(300, 0, 2));
  EXPECT_LT(near.fid, far.fid);
  EXPECT_LT(*near.kid, *far.kid);
  EXPECT_GT(near.manifold->precision, far.manifold->precision);
  EXPECT_EQ(near.half_size, 150);
  EXPECT_GT(*near.reference_to_itself, 0);
  EXPECT_LT(*near.reference_to_itself, 1);
  EXPECT_EQ(*near.reference_to_itself, *far.reference_to_itself);
  for (const char* text :
       {"SHA-256 h", "200 pictures", "300 pictures", "set 2", "k = 3", "biased", "halves"}) {
    EXPECT_TRUE(mentions(near, text)) << text;
  }
}

TEST(GenerationReport, StatisticsAloneGiveFidAlone) {
  FeatureSet reference;
  reference.statistics = FeatureStatistics(torch::zeros({8}), torch::eye(8), 0);
  reference.provenance = {"", "vendor.npz", "unknown"};
  const auto figures = compare_sets(set_of(100, 0, 1), reference);
  EXPECT_GT(figures.fid, 0);
  EXPECT_FALSE(figures.kid || figures.manifold || figures.reference_to_itself);
  EXPECT_TRUE(mentions(figures, "on trust"));
  EXPECT_TRUE(mentions(figures, "unknown number"));
}

TEST(GenerationReport, ManyPicturesAreNotCalledBiased) {
  const auto large = set_of(kUnbiasedPictures, 0, 1);
  FeatureSet reference;
  reference.statistics = large.statistics;
  EXPECT_FALSE(mentions(compare_sets(large, reference), "biased"));
}

TEST(GenerationReport, NetworksMustAgreeAndTheScoreNeedsAClassifier) {
  EXPECT_THROW(compare_sets(set_of(10, 0, 1, "a"), set_of(10, 0, 2, "b")), UsageError);
  auto set = set_of(40, 0, 1);
  EXPECT_THROW(inception_score_of(set), UsageError);
  set.logits = torch::zeros({40, 5});
  EXPECT_NEAR(inception_score_of(set).mean, 1, 1e-9);
}

}  // namespace
}  // namespace addp
