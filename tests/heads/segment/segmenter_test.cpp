#include "heads/segment/segmenter.h"

#include <gtest/gtest.h>
#include <torch/optim/adamw.h>

#include "base/error.h"
#include "data/shapes/shapes.h"
#include "heads/segment/segment_picture.h"
#include "heads/segment/segmenter_file.h"
#include "heads/small_heads.h"
#include "model/init.h"
#include "nn/layer/picture_tensor.h"
#include "nn/layer/pixels.h"
#include "support/gradients.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

using testing::noise_pixels;
using testing::tiny_resnet;
using testing::tiny_segmenter;
using testing::tiny_vit;

Tensor loss_of(const Tensor& logits, const Tensor& labels) {
  return segmentation_loss(logits, labels, counted_pixels(labels));
}

TEST(Segmenter, LevelsAndGradients) {
  for (const EncoderConfig& encoder : {tiny_vit(32, 8), tiny_resnet()}) {
    const std::int64_t side = encoder.kind == EncoderKind::kVit ? 32 : 64;
    Segmenter segmenter(tiny_segmenter(encoder, side));
    initialise_on_maps(segmenter, RandomStream(1, "test"));
    DropoutKeys keys(RandomStream(1, "noise"));
    const SegmenterOutput out = segmenter.forward(noise_pixels(2, side, side), &keys);
    // The finest level of a ViT has a quarter of the patch as its stride, a ResNet's is 4; the
    // auxiliary head sits two levels above.
    const std::int64_t finest = encoder.kind == EncoderKind::kVit ? 2 : 4;
    EXPECT_EQ(out.logits.sizes(), (std::vector<std::int64_t>{2, 3, side / finest, side / finest}));
    EXPECT_EQ(out.auxiliary.size(2), side / finest / 4);
    const Tensor pixels = noise_pixels(2, side, side);
    testing::expect_slope(
        segmenter,
        [&] {
          DropoutKeys again(RandomStream(1, "noise"));
          const SegmenterOutput made = segmenter.forward(pixels, &again);
          return made.logits.square().mean() + made.auxiliary.square().mean();
        },
        testing::kDroppedOnMaps);
  }
}

TEST(Segmenter, IgnoredPixelsDoNotCount) {
  const Tensor logits = noise_pixels(1, 4, 4);
  Tensor labels = torch::zeros({1, 4, 4}, torch::kUInt8);
  const Tensor all = loss_of(logits, labels);
  labels.slice(1, 2, 4).fill_(kIgnoreLabel);
  EXPECT_NEAR(loss_of(logits, labels).item<double>(),
              loss_of(logits.slice(2, 0, 2), labels.slice(1, 0, 2)).item<double>(), 1e-6);
  EXPECT_TRUE(all.isfinite().item<bool>());
  labels.fill_(kIgnoreLabel);
  EXPECT_EQ(loss_of(logits, labels).item<double>(), 0);
}

TEST(Segmenter, FilesGiveTheSameNetworkBack) {
  const testing::TemporaryFolder folder;
  Segmenter segmenter(tiny_segmenter(tiny_vit(32, 8), 32));
  initialise_on_maps(segmenter, RandomStream(1, "test"));
  segmenter.eval();
  save_segmenter(folder.path() / "s.safetensors", segmenter, "{}");
  const auto again = load_segmenter(folder.path() / "s.safetensors");
  EXPECT_EQ(again->config().class_names, segmenter.config().class_names);
  torch::NoGradGuard no_grad;
  const Tensor pixels = noise_pixels(1, 32, 32);
  EXPECT_TRUE(again->logits(pixels).equal(segmenter.logits(pixels)));
}

TEST(Segmenter, ATokenizerTravelsWithAMapsOfTokens) {
  const testing::TemporaryFolder folder;
  const auto tokenizer = std::make_shared<Vqgan>(VqganConfig{.channels = 8,
                                                             .multipliers = {1},
                                                             .blocks = 1,
                                                             .codes = 32,
                                                             .code_width = 4,
                                                             .stem = 4,
                                                             .groups = 4});
  initialise(*tokenizer, RandomStream(2, "test"));
  SegmenterConfig config = tiny_segmenter({}, 32);
  BackboneConfig& backbone = config.maps.backbone;
  backbone.input = BackboneInput::kTokens;
  backbone.tokens = {{.vocabulary = {32, 1}, .grid = {8, 8}, .width = 32, .depth = 4, .heads = 2}};
  backbone = fine_tuning_backbone(backbone, {8, 8}, 0);
  Segmenter segmenter(config, tokenizer);
  initialise_on_maps(segmenter, RandomStream(1, "test"));
  segmenter.eval();
  for (const auto& item : segmenter.named_parameters()) {
    EXPECT_EQ(item.key().find("conv_in"), std::string::npos) << "the tokenizer is not trained";
  }
  save_segmenter(folder.path() / "s.safetensors", segmenter, "{}");
  const auto again = load_segmenter(folder.path() / "s.safetensors");
  torch::NoGradGuard no_grad;
  const Tensor pixels = noise_pixels(1, 32, 48);
  EXPECT_TRUE(again->logits(pixels).equal(segmenter.logits(pixels)));
}

TEST(Segmenter, WindowsCoverTheWholePicture) {
  for (const std::int64_t length : {10, 32, 33, 64, 100}) {
    const auto starts = window_starts(length, 32, 1.0 / 3);
    EXPECT_EQ(starts.front(), 0);
    EXPECT_EQ(starts.back(), std::max<std::int64_t>(length - 32, 0));
    for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_LE(starts[i] - starts[i - 1], 22);
  }
}

TEST(Segmenter, PicturesOfAnySize) {
  Segmenter segmenter(tiny_segmenter(tiny_vit(32, 8), 32));
  initialise_on_maps(segmenter, RandomStream(1, "test"));
  segmenter.eval();
  const Image picture = draw_shapes({.size = 71}, "train", 0).image;
  for (const LabelingOptions& options :
       {LabelingOptions{}, LabelingOptions{.short_side = 32},
        LabelingOptions{.short_side = 20, .scales = {0.5, 1, 1.5}, .flip = true}}) {
    const Tensor shares = class_probabilities(segmenter, picture, options);
    EXPECT_EQ(shares.sizes(), (std::vector<std::int64_t>{3, 71, 71}));
    EXPECT_TRUE(torch::allclose(shares.sum(0), torch::ones({71, 71}), 1e-4, 1e-4));
  }
  EXPECT_THROW(class_probabilities(segmenter, picture, {.scales = {}}), UsageError);
}

// With both views the result for the mirrored picture is the mirrored result.
TEST(Segmenter, FlipTestingIsSymmetric) {
  Segmenter segmenter(tiny_segmenter(tiny_vit(32, 8), 32));
  initialise_on_maps(segmenter, RandomStream(1, "test"));
  segmenter.eval();
  const Image picture = draw_shapes({.size = 32}, "train", 1).image;
  Image mirrored = picture;
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) std::copy_n(picture.at(x, y), 3, mirrored.at(31 - x, y));
  }
  const Tensor a = class_probabilities(segmenter, picture, {.flip = true});
  const Tensor b = class_probabilities(segmenter, mirrored, {.flip = true});
  EXPECT_TRUE(torch::allclose(a, b.flip(2), 1e-3, 1e-4));
}

TEST(Segmenter, LearnsAHandfulByHeart) {
  SegmenterConfig config = tiny_segmenter(tiny_vit(32, 4), 32);
  config.class_names.resize(9);
  Segmenter segmenter(config);
  initialise_on_maps(segmenter, RandomStream(1, "test"));
  std::vector<Image> pictures;
  std::vector<Tensor> labels;
  for (std::int64_t i = 0; i < 2; ++i) {
    const ShapesPicture made = draw_shapes({.size = 32}, "train", i);
    pictures.push_back(made.image);
    labels.push_back(
        torch::tensor(std::vector<std::uint8_t>(made.labels.pixels), torch::kUInt8).view({32, 32}));
  }
  const Tensor pixels = normalise_pixels(to_tensor(pictures)), truth = torch::stack(labels);
  torch::optim::AdamW optimizer(segmenter.parameters(), torch::optim::AdamWOptions(4e-3));
  for (int step = 0; step < 60; ++step) {
    optimizer.zero_grad();
    const SegmenterOutput out = segmenter.forward(pixels, nullptr);
    (loss_of(out.logits, truth) + 0.4 * loss_of(out.auxiliary, truth)).backward();
    optimizer.step();
  }
  torch::NoGradGuard no_grad;
  const Tensor right = segmenter.logits(pixels).argmax(1) == truth.to(torch::kLong);
  EXPECT_GT(right.to(torch::kFloat).mean().item<double>(), 0.9);
}

}  // namespace
}  // namespace addp
