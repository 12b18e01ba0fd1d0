#include "eval/generation/feature_set.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "eval/generation/normal_rows.h"
#include "nn/torch.h"
#include "support/fixtures.h"
#include "support/temporary_folder.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

TEST(FeatureSet, SurvivesItsFile) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "reference.safetensors";
  FeatureSet set;
  const auto rows = testing::normal_rows(50, 6, 9);
  set.statistics.add(rows);
  set.features = rows.slice(0, 0, 20);
  set.provenance = {"abc", "photos", "none"};
  write_feature_set(path, set);
  const auto read = read_feature_set(path);
  EXPECT_EQ(read.statistics.count(), 50);
  EXPECT_EQ(read.provenance.network_hash, "abc");
  EXPECT_EQ(read.provenance.source, "photos");
  EXPECT_EQ(read.provenance.resize, "none");
  EXPECT_TRUE(torch::equal(read.features, set.features));
  EXPECT_FALSE(read.logits.defined());
  EXPECT_TRUE(torch::equal(read.statistics.mean(), set.statistics.mean()));
  EXPECT_TRUE(torch::allclose(read.statistics.covariance(), set.statistics.covariance(), 1e-14, 0));
}

TEST(FeatureSet, OtherFilesAreRefused) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "x.safetensors";
  EXPECT_ANY_THROW(read_feature_set(path));
  write_safetensors(path, {{"mu", to_view(torch::zeros({2}))}});
  EXPECT_THROW(read_feature_set(path), DataError);
  const TensorMap good = {{"mu", to_view(torch::zeros({2}))}, {"sigma", to_view(torch::eye(2))}};
  std::map<std::string, std::string> said = {{"kind", "feature statistics"},
                                             {"pictures", "10"},
                                             {"network", ""},
                                             {"source", ""},
                                             {"resize", ""}};
  write_safetensors(path, good, said);
  EXPECT_EQ(read_feature_set(path).statistics.count(), 10);
  for (const char* count : {"", "-3", "1", "many", "10x"}) {
    said["pictures"] = count;
    write_safetensors(path, good, said);
    EXPECT_THROW(read_feature_set(path), DataError) << count;
  }
  said["pictures"] = "10";
  auto wrong = good;
  wrong["features"] = to_view(torch::zeros({4, 3}));
  write_safetensors(path, wrong, said);
  EXPECT_THROW(read_feature_set(path), DataError);
}

TEST(FeatureSet, CollectedFromPhotographs) {
  ADDP_REQUIRE_FIXTURE_FILE(recorded, "ops/real_weights.safetensors");
  ADDP_REQUIRE_WEIGHTS(weights, "inception-2015-12-05-fp16.safetensors");
  auto f = testing::load_tensors(recorded);
  const auto network = InceptionNetwork::open(weights);
  const auto pictures = f["image"].slice(0, 0, 4);
  std::vector<Image> images;
  for (std::int64_t i = 0; i < pictures.size(0); ++i) {
    const auto hwc = pictures[i].permute({1, 2, 0}).contiguous();
    Image image(int(hwc.size(1)), int(hwc.size(0)));
    std::copy_n(hwc.const_data_ptr<std::uint8_t>(), image.pixels.size(), image.pixels.begin());
    images.push_back(image);
  }
  FeatureCollector collector(network, 3, {"", "four photographs", "none"});
  collector.add(std::span<const Image>(images).first(2));
  collector.add(pictures.slice(0, 2));
  EXPECT_EQ(collector.count(), 4);
  const auto set = std::move(collector).finish();
  EXPECT_EQ(set.statistics.count(), 4);
  EXPECT_EQ(set.features.size(0), 3);
  EXPECT_EQ(set.provenance.network_hash, network.hash());
  const auto expected = f["inception_2048"].slice(0, 0, 4).to(torch::kDouble).mean(0);
  EXPECT_LT(testing::relative_error(set.statistics.mean(), expected), 1e-4);
}

}  // namespace
}  // namespace addp
