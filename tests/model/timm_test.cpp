// The encoder as timm and MAE load it, against what timm 1.0.30 computed with it
// (record_timm_features.py).
#include <gtest/gtest.h>

#include "base/error.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/layout/export_encoder.h"
#include "model/load.h"
#include "nn/encoder/encoders.h"
#include "nn/torch.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

namespace fs = std::filesystem;

const fs::path kFixtures = fs::path(ADDP_SOURCE_DIR) / "tests/fixtures";

// As the script has it.
Tensor pixels() {
  constexpr std::int64_t kSide = 256;
  const Tensor index = torch::arange(2 * 3 * kSide * kSide);
  return ((index * 7919).remainder(1009).to(torch::kFloat32) / 1009 * 2 - 1)
      .view({2, 3, kSide, kSide});
}

class Timm : public ::testing::Test {
 protected:
  void SetUp() override {
    recorded_ = open_checkpoint(kFixtures / "timm/features.safetensors");
    model_ = open_checkpoint(kFixtures / "addp-mini/addp.pth");
  }

  // Our network with the exported weights.
  Tensor features_of(TensorMap tensors, bool norm_in_front) const {
    VitConfig config = vit_config_from(model_.tensors, "addp-mini");
    config.heads = std::stoll(recorded_.metadata["heads"].get<std::string>());
    config.embedding_norm = norm_in_front;
    Vit vit(config);
    vit.eval();
    if (norm_in_front) {
      for (const char* part : {"weight", "bias"}) {
        auto node = tensors.extract(std::string("norm_pre.") + part);
        node.key() = std::string("tokenizer_norm.") + part;
        tensors.insert(std::move(node));
      }
      tensors["patch_embed.proj.bias"] = to_view(torch::zeros({config.width}));
    }
    load_strictly(vit, tensors, {.source = "exported"});
    torch::NoGradGuard guard;
    return vit.features(pixels());
  }

  void expect_shapes(const TensorMap& tensors, const char* key) const {
    const auto shapes = nlohmann::json::parse(recorded_.metadata[key].get<std::string>());
    EXPECT_EQ(tensors.size(), shapes.size());
    for (const auto& [name, shape] : shapes.items()) {
      ASSERT_TRUE(tensors.contains(name)) << name;
      EXPECT_EQ(tensors.at(name).shape, shape.get<std::vector<std::int64_t>>()) << name;
    }
  }

  void expect_near(const Tensor& ours, const char* key) const {
    const Tensor theirs = to_torch(recorded_.tensors.at(key));
    ASSERT_EQ(ours.sizes(), theirs.sizes());
    EXPECT_LT((ours - theirs).abs().max().item<double>(), 1e-4) << key;
  }

  Checkpoint recorded_, model_;
};

TEST_F(Timm, SeesWhatOurEncoderSees) {
  const EncoderExport exported = export_encoder(model_, EncoderFormat::kTimm);
  expect_shapes(exported.tensors, "timm_shapes");
  expect_near(features_of(exported.tensors, true), "timm");
  EXPECT_NE(exported.call.find("img_size=(256, 256), patch_size=16, embed_dim=32"),
            std::string::npos)
      << exported.call;
  // The model itself, with its bias where it was.
  VitConfig config = vit_config_from(model_.tensors, "addp-mini");
  config.heads = 4;
  Vit vit(config);
  vit.eval();
  TensorMap own;
  for (const auto& [name, tensor] : state_of(vit)) own[name] = model_.tensors.at(name);
  load_strictly(vit, own, {.source = "model"});
  torch::NoGradGuard guard;
  expect_near(vit.features(pixels()), "timm");
}

TEST_F(Timm, MaeStartsWithoutTheNormInFront) {
  const EncoderExport exported = export_encoder(model_, EncoderFormat::kMae);
  expect_shapes(exported.tensors, "mae_shapes");
  expect_near(features_of(exported.tensors, false), "mae");
}

TEST_F(Timm, ClassifiersKeepTheirHeads) {
  const Checkpoint classifier = open_checkpoint(kFixtures / "addp-mini/classifier.pth");
  const EncoderExport exported = export_encoder(classifier, EncoderFormat::kTimm);
  EXPECT_EQ(exported.kind, "classifier");
  EXPECT_TRUE(exported.tensors.contains("head.weight"));
  EXPECT_TRUE(exported.tensors.contains("fc_norm.weight"));
  EXPECT_NE(exported.call.find("global_pool='avg'"), std::string::npos);
}

TEST_F(Timm, OtherNetworksAreRefused) {
  EXPECT_THROW(
      export_encoder(open_checkpoint(kFixtures / "addp-mini/mage.pth"), EncoderFormat::kTimm),
      DataError);
  EXPECT_THROW(
      export_encoder(open_checkpoint(kFixtures / "addp-mini/vqgan.ckpt"), EncoderFormat::kMae),
      DataError);
  testing::TemporaryFolder folder;
  EXPECT_THROW(export_encoder(kFixtures / "addp-mini/addp.pth", folder.path() / "a.safetensors",
                              EncoderFormat::kMae, {}),
               UsageError);
}

}  // namespace
}  // namespace addp
