#include "eval/generation/inception.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "support/fixtures.h"
#include "support/torch_fixtures.h"
#include "weights/inception_layers.h"

namespace addp {
namespace {

using testing::relative_error;

// The network's keys and shapes, from the fixture.
std::map<std::string, std::vector<std::int64_t>> fixture_keys(const std::filesystem::path& folder) {
  std::ifstream file(folder / "inception_keys.json");
  return nlohmann::json::parse(file).get<std::map<std::string, std::vector<std::int64_t>>>();
}

TensorMap formula_network(const std::map<std::string, std::vector<std::int64_t>>& keys) {
  TensorMap weights;
  std::int64_t k = 0;
  for (const auto& [name, shape] : keys) {
    const bool integer = name.ends_with("num_batches_tracked");
    weights[name] = to_view(integer ? torch::zeros(shape, torch::kLong)
                                    : testing::formula_weight(name, k, shape));
    ++k;
  }
  return weights;
}

TEST(Inception, FormulaWeightsEqualTheReference) {
  ADDP_REQUIRE_FIXTURE(folder, "ops");
  auto f = testing::load_tensors(folder / "inception.safetensors");
  const InceptionNetwork network(formula_network(fixture_keys(folder)), "formula weights");
  ASSERT_TRUE(network.has_classifier());
  InceptionTaps taps;
  const auto out = network(f["image"], &taps);
  EXPECT_LT(relative_error(taps.features64, f["feat_64"]), 1e-4);
  EXPECT_LT(relative_error(taps.features192, f["feat_192"]), 1e-4);
  EXPECT_LT(relative_error(taps.features768, f["feat_768"]), 1e-4);
  EXPECT_LT(relative_error(out.pool, f["feat_2048"]), 1e-4);
  EXPECT_LT(relative_error(out.logits_unbiased, f["feat_logits_unbiased"]), 1e-4);
}

TEST(Inception, RealWeightsOnPhotographs) {
  ADDP_REQUIRE_FIXTURE_FILE(recorded, "ops/real_weights.safetensors");
  ADDP_REQUIRE_WEIGHTS(weights, "inception-2015-12-05-fp16.safetensors");
  auto f = testing::load_tensors(recorded);
  const auto network = InceptionNetwork::open(weights);
  EXPECT_EQ(network.hash().size(), 64U);
  EXPECT_FALSE(network.has_classifier());
  const auto out = network(f["image"]);
  EXPECT_LT(relative_error(out.pool, f["inception_2048"]), 1e-4);
  EXPECT_FALSE(out.logits_unbiased.defined());
}

// A network of all keys with small random-free weights, for tests that need none of the fixtures.
TensorMap plain_network() {
  TensorMap weights;
  for (const auto& layer : inception_layers()) {
    const std::string key = layer.name;
    weights[key + ".conv.weight"] =
        to_view(torch::full({layer.out, layer.in, layer.kernel_height, layer.kernel_width},
                            1.0 / double(layer.in * layer.kernel_height * layer.kernel_width)));
    for (const char* part : {"weight", "running_var"}) {
      weights[key + ".bn." + part] = to_view(torch::ones({layer.out}));
    }
    for (const char* part : {"bias", "running_mean"}) {
      weights[key + ".bn." + part] = to_view(torch::zeros({layer.out}));
    }
  }
  return weights;
}

TEST(Inception, ForeignFilesAreRefused) {
  auto weights = plain_network();
  EXPECT_NO_THROW(InceptionNetwork(weights, "w"));
  auto missing = weights;
  missing.erase("Mixed_7c.branch_pool.conv.weight");
  EXPECT_THROW(InceptionNetwork(missing, "w"), DataError);
  auto extra = weights;
  extra["AuxLogits.fc.weight"] = to_view(torch::zeros({1}));
  EXPECT_THROW(InceptionNetwork(extra, "w"), DataError);
  auto wrong = weights;
  wrong["Conv2d_1a_3x3.conv.weight"] = to_view(torch::zeros({32, 3, 3, 4}));
  EXPECT_THROW(InceptionNetwork(wrong, "w"), DataError);
}

TEST(Inception, InputIsResizedAsTensorFlowOneDid) {
  // One row 0, 100: source = target / 2 at twice the size, no half-pixel offset.
  const auto picture =
      torch::tensor({0, 100}, torch::kByte).view({1, 1, 1, 2}).expand({1, 3, 2, 2}).contiguous();
  const auto out = inception_input(picture, 4);
  ASSERT_EQ(out.sizes(), torch::IntArrayRef({1, 3, 4, 4}));
  const auto expected = (torch::tensor({0.0F, 50.0F, 100.0F, 100.0F}) - 128) / 128;
  for (int y = 0; y < 4; ++y) EXPECT_TRUE(torch::allclose(out[0][1][y], expected));
}

TEST(Inception, WrongPicturesAreRefused) {
  EXPECT_THROW(inception_input(torch::zeros({1, 3, 8, 8})), UsageError);
  EXPECT_THROW(inception_input(torch::zeros({1, 1, 8, 8}, torch::kByte)), UsageError);
}

}  // namespace
}  // namespace addp
