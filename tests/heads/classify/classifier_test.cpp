// The fine-tuning classifier against the released one.
#include "heads/classify/classifier.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heads/classify/classifier_file.h"
#include "model/init.h"
#include "nn/layer/pixels.h"
#include "nn/layer/position.h"
#include "nn/torch.h"
#include "support/gradients.h"
#include "support/network_fixture.h"
#include "support/temporary_folder.h"
#include "tokenizer/vqgan_file.h"

namespace addp {
namespace {

using testing::kParity;
using testing::relative_error;

EncoderConfig small_encoder() {
  EncoderConfig config;
  config.vit.width = 16;
  config.vit.depth = 2;
  config.vit.heads = 4;
  config.vit.patch = 4;
  config.vit.grid = {4, 4};
  return config;
}

// The encoder of a pre-trained network as a classifier takes it, for pictures of another grid.
ClassifierConfig classifier_config(EncoderConfig pretrained, const Grid& grid,
                                   std::int64_t classes) {
  ClassifierConfig config;
  config.backbone.encoder = pretrained;
  config.backbone = fine_tuning_backbone(config.backbone, grid, pretrained.vit.drop_path);
  config.classes = classes;
  return config;
}

TEST(Classifier, MatchesTheReleasedOne) {
  torch::NoGradGuard no_grad;
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    if (!std::filesystem::exists(folder / "classifier.safetensors")) continue;
    SCOPED_TRACE(folder);
    const auto want = testing::load_tensors(folder / "classifier.safetensors");
    const Tensor pixels = normalise_pixels(want.at("image"));
    const VitConfig usual =
        load_classifier(folder / "classifier.pth")->config().backbone.encoder.vit;
    const auto error = [&](std::int64_t heads) {
      return relative_error(load_classifier(folder / "classifier.pth", heads)->forward(pixels),
                            want.at("logits"));
    };
    const auto heads = testing::best_fit(
        testing::possible_heads(folder, "classifier_heads", usual.heads, usual.width), error);
    EXPECT_LT(error(heads), kParity);
  }
}

TEST(Classifier, LayerDecayGroupsAreTheReleasedOnes) {
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    if (!std::filesystem::exists(folder / "layer_decay.json")) continue;
    SCOPED_TRACE(folder);
    std::ifstream file(folder / "layer_decay.json");
    const auto wanted = nlohmann::json::parse(file);
    // The rates are powers of the decay, the weight decay is that of any group that has one.
    double decay = 0, weight_decay = 0;
    for (const auto& group : wanted) {
      const double scale = group.at("lr_scale");
      if (scale < 1) decay = std::max(decay, scale);
      weight_decay = std::max(weight_decay, group.at("weight_decay").get<double>());
    }
    const auto classifier = load_classifier(folder / "classifier.pth");
    const auto groups = classifier_groups(*classifier, decay, weight_decay);
    ASSERT_EQ(groups.size(), wanted.size());
    const auto sorted = [](std::vector<std::string> names) {
      std::sort(names.begin(), names.end());
      return names;
    };
    for (std::size_t i = 0; i < groups.size(); ++i) {
      EXPECT_NEAR(groups[i].lr_scale, wanted[i].at("lr_scale").get<double>(), 1e-9);
      EXPECT_EQ(groups[i].weight_decay, wanted[i].at("weight_decay").get<double>());
      EXPECT_EQ(sorted(groups[i].names),
                sorted(wanted[i].at("params").get<std::vector<std::string>>()));
      EXPECT_EQ(groups[i].parameters.size(), groups[i].names.size());
    }
  }
}

TEST(Classifier, TakesAPublishedEncoderAtAnotherSize) {
  torch::NoGradGuard no_grad;
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    const ModelFile file = open_model(folder / "addp.pth");
    const EncoderConfig pretrained = backbone_config(file).encoder;
    const Grid grid{pretrained.vit.grid.height - 2, pretrained.vit.grid.width + 1};
    Classifier classifier(classifier_config(pretrained, grid, 5));
    initialise(classifier, RandomStream(1, "test"));
    load_backbone(classifier.encoder(), classifier.config().backbone, file);
    const auto own = classifier.named_parameters();
    EXPECT_TRUE(own["encoder.blocks.0.attn.qkv.weight"].equal(
        to_torch(file.tensors.at("blocks.0.attn.qkv.weight"))));
    EXPECT_TRUE(own["encoder.pos_embed"].equal(
        resize_positions(to_torch(file.tensors.at("pos_embed")), pretrained.vit.grid, grid)));
  }
}

TEST(Classifier, FilesGiveTheSameNetworkBack) {
  torch::NoGradGuard no_grad;
  const testing::TemporaryFolder folder;
  Classifier classifier(classifier_config(small_encoder(), {4, 4}, 7));
  initialise(classifier, RandomStream(1, "test"));
  save_classifier(folder.path() / "c.safetensors", classifier, "{}");
  const auto again = load_classifier(folder.path() / "c.safetensors");
  const Tensor pixels = torch::rand({2, 3, 16, 16});
  EXPECT_TRUE(again->forward(pixels).equal(classifier.forward(pixels)));
}

TEST(Classifier, EveryParameterGetsAGradient) {
  Classifier classifier(classifier_config(small_encoder(), {4, 4}, 3));
  initialise(classifier, RandomStream(1, "test"));
  const Tensor pixels = torch::rand({2, 3, 16, 16});
  testing::expect_slope(classifier, [&] {
    DropoutKeys keys(RandomStream(1, "noise"));
    return classifier.forward(pixels, &keys).square().mean();
  });
}

TEST(TokenEncoder, IsThePredictorsEncoder) {
  torch::NoGradGuard no_grad;
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    SCOPED_TRACE(folder);
    const ModelFile file = open_model(folder / "mage.pth");
    const BackboneConfig config = backbone_config(file);
    ASSERT_EQ(config.input, BackboneInput::kTokens);
    const std::shared_ptr<const Vqgan> tokenizer = load_tokenizer(folder / "vqgan.ckpt");
    const auto encoder = make_backbone(config, tokenizer);
    load_backbone(*encoder, config, file);
    const Tensor image = testing::load_tensors(folder / "train_step.safetensors").at("image");
    const Tensor features = encoder->features(normalise_pixels(image));
    const std::int64_t cells = tokenizer->grid_of(image).area();
    EXPECT_EQ(features.sizes(),
              (std::vector<std::int64_t>{image.size(0), 1 + cells, config.width()}));
    const auto parameters = encoder->named_parameters();
    for (const char* name : {"blocks.0.attn.qkv.weight", "norm.bias"}) {
      EXPECT_TRUE(parameters[name].equal(to_torch(file.tensors.at(name)))) << name;
    }
  }
}

TEST(TokenEncoder, ItsLayersDecayLikeAViTs) {
  BackboneConfig backbone;
  backbone.input = BackboneInput::kTokens;
  backbone.tokens = {{.vocabulary = {32, 1}, .grid = {4, 4}, .width = 16, .depth = 2, .heads = 4}};
  const auto tokenizer = std::make_shared<Vqgan>(
      VqganConfig{.channels = 8, .multipliers = {1}, .blocks = 1, .codes = 32, .stem = 4});
  ClassifierConfig config;
  config.backbone = fine_tuning_backbone(backbone, {2, 2}, 0.1);
  config.classes = 3;
  const Classifier classifier(config, tokenizer);
  for (const auto& group : classifier_groups(classifier, 0.5, 0.05)) {
    for (const auto& name : group.names) {
      const double wanted = name.starts_with("token_emb.") ? 0.125 : group.lr_scale;
      EXPECT_NEAR(group.lr_scale, name.starts_with("head.") ? 1 : wanted, 1e-9) << name;
      EXPECT_FALSE(name.starts_with("norm.") || name.find("vqgan") != std::string::npos) << name;
    }
  }
  EXPECT_THROW(Classifier(config, nullptr), UsageError);
}

}  // namespace
}  // namespace addp
