// The VQ tokenizer against the released one, and at sizes that the released one cannot have.
#include "tokenizer/vqgan.h"

#include <gtest/gtest.h>

#include "machine/operation_profile.h"
#include "machine/precision.h"
#include "nn/torch.h"
#include "support/gradients.h"
#include "support/network_fixture.h"
#include "support/small_tokenizer.h"
#include "support/temporary_folder.h"
#include "tokenizer/vqgan_file.h"

namespace addp {
namespace {

using testing::kParity;
using testing::relative_error;

std::shared_ptr<Vqgan> small_tokenizer(const VqganConfig& config) {
  auto tokenizer = std::make_shared<Vqgan>(config);
  initialise_vqgan(*tokenizer, RandomStream(1, "test"));
  return tokenizer;
}

VqganConfig config_with_factor(std::int64_t factor, std::int64_t stem) {
  VqganConfig config{.channels = 8, .blocks = 1, .codes = 32, .code_width = 6, .stem = stem};
  config.multipliers = {1};
  for (std::int64_t reached = stem; reached < factor; reached *= 2) config.multipliers.push_back(2);
  config.unit_codes = config.input_shortcut = stem > 1;
  return config;
}

TEST(Vqgan, MatchesTheReleasedTokenizer) {
  torch::NoGradGuard no_grad;
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    SCOPED_TRACE(folder);
    const auto want = testing::load_tensors(folder / "train_step.safetensors");
    const auto tokenizer = load_tokenizer(folder / "vqgan.ckpt");
    const Grid grid = tokenizer->grid_of(want.at("image"));
    for (const bool reference : {false, true}) {
      SCOPED_TRACE(reference ? "reference arithmetic" : "fast arithmetic");
      std::optional<ReferenceArithmetic> scope;
      if (reference) scope.emplace();
      EXPECT_LT(relative_error(tokenizer->latent(want.at("image")), want.at("vq_latent")), kParity);
      EXPECT_TRUE(tokenizer->encode(want.at("image")).equal(want.at("z0_indices")));
      EXPECT_LT(
          relative_error(tokenizer->decode_ids(want.at("z0_indices"), grid), want.at("vq_recon")),
          kParity);
    }
  }
}

TEST(Vqgan, UpsamplingEqualsAConvolutionOfTheDoubledPicture) {
  torch::manual_seed(3);
  Tensor x = torch::randn({2, 5, 4, 7}).requires_grad_(),
         weight = torch::randn({6, 5, 3, 3}).requires_grad_();
  const Tensor bias = torch::randn({6});
  const Tensor seed = torch::randn({2, 6, 8, 14});
  const Tensor fast = upsample_conv(x, weight, bias);
  const auto fast_grads = torch::autograd::grad({fast}, {x, weight}, {seed});
  const ReferenceArithmetic scope;
  const Tensor plain = upsample_conv(x, weight, bias);
  const auto plain_grads = torch::autograd::grad({plain}, {x, weight}, {seed});
  EXPECT_LT(relative_error(fast, plain), 1e-5);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_LT(relative_error(fast_grads[i], plain_grads[i]), 1e-5);
}

TEST(Vqgan, EveryFactorAndShapeGoesThereAndBack) {
  for (const std::int64_t factor : {4, 8, 16}) {
    for (const std::int64_t stem : {1, 2}) {
      SCOPED_TRACE(::testing::Message() << "factor " << factor << ", stem " << stem);
      const VqganConfig config = config_with_factor(factor, stem);
      const auto tokenizer = small_tokenizer(config);
      ASSERT_EQ(tokenizer->factor(), factor);
      const Tensor pixels = torch::rand({2, 3, 2 * factor, 3 * factor});
      const Grid grid = tokenizer->grid_of(pixels);
      EXPECT_EQ(grid, (Grid{2, 3}));
      const Tensor latent = tokenizer->latent(pixels);
      EXPECT_EQ(latent.sizes().vec(), (std::vector<std::int64_t>{2, config.code_width, 2, 3}));
      const Quantized quantized = tokenizer->quantize(latent);
      const Tensor ids = tokenizer->encode(pixels);
      EXPECT_TRUE(ids.equal(quantized.ids));
      const Tensor decoded = tokenizer->decode(quantized.embeddings);
      EXPECT_EQ(decoded.sizes(), pixels.sizes());
      EXPECT_LT(relative_error(tokenizer->decode_ids(ids, grid), decoded), 1e-4);
      (decoded.square().mean() + quantized.codebook_loss + quantized.commitment_loss).backward();
      testing::expect_gradients(*tokenizer);
    }
  }
}

std::int64_t convolutions_of(const Vqgan& tokenizer, const Tensor& ids, const Grid& grid) {
  const OperationProfile profile;
  tokenizer.decode_ids(ids, grid);
  std::int64_t calls = 0;
  for (const OperationRow& row : profile.rows()) {
    if (row.kind == "convolution 3x3") calls += row.calls;
  }
  EXPECT_GT(calls, 0);
  return calls;
}

// Without gradients a large batch goes through the network a few pictures at a time.
TEST(Vqgan, ABatchIsWhatItsPicturesAre) {
  const auto tokenizer = small_tokenizer(config_with_factor(8, 1));
  const Tensor pixels = torch::rand({3, 3, 192, 256});
  const Grid grid = tokenizer->grid_of(pixels);
  const Tensor ids = tokenizer->encode(pixels), decoded = tokenizer->decode_ids(ids, grid);
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(tokenizer->encode(pixels).equal(ids));
  const Tensor portions = tokenizer->decode_ids(ids, grid);
  EXPECT_EQ(portions.sizes(), decoded.sizes());
  EXPECT_LT(relative_error(portions, decoded), 1e-5);
  EXPECT_EQ(convolutions_of(*tokenizer, ids, grid),
            3 * convolutions_of(*tokenizer, ids.slice(0, 0, 1), grid));
}

TEST(Vqgan, WithoutItsEncoderItStillMakesPictures) {
  torch::NoGradGuard no_grad;
  const auto tokenizer = small_tokenizer(testing::small_tokenizer());
  const Tensor pixels = torch::rand({2, 3, 32, 32}), ids = tokenizer->encode(pixels);
  const Tensor made = tokenizer->decode_ids(ids, {4, 4});
  tokenizer->forget_encoder();
  tokenizer->forget_encoder();
  EXPECT_TRUE(tokenizer->decode_ids(ids, {4, 4}).equal(made));
  EXPECT_FALSE(tokenizer->named_children().contains("encoder"));
  EXPECT_THROW(tokenizer->encode(pixels), UsageError);
}

TEST(Vqgan, TheNearestCodeIsTheNearest) {
  const auto tokenizer = small_tokenizer(config_with_factor(4, 1));
  torch::NoGradGuard no_grad;
  const Tensor latent = torch::randn({2, 6, 3, 5}) * 0.05;
  const Tensor rows = latent.permute({0, 2, 3, 1}).reshape({-1, 6}).to(torch::kFloat64);
  const Tensor wanted =
      at::cdist(rows, tokenizer->codebook().to(torch::kFloat64)).argmin(1).view({2, 15});
  EXPECT_TRUE(tokenizer->quantize(latent).ids.equal(wanted));
}

TEST(Vqgan, PicturesOfOtherSizesAreRefused) {
  const auto tokenizer = small_tokenizer(config_with_factor(8, 1));
  EXPECT_THROW(tokenizer->encode(torch::zeros({1, 3, 20, 16})), UsageError);
  const torch::NoGradGuard no_grad;
  EXPECT_THROW(tokenizer->encode(torch::zeros({2, 3, 0, 16})), UsageError);
  EXPECT_THROW(Vqgan(VqganConfig{.channels = 0}), UsageError);
  EXPECT_THROW(Vqgan(VqganConfig{.stem = 3}), UsageError);
}

TEST(Vqgan, FilesKeepTheConfiguration) {
  torch::NoGradGuard no_grad;
  const testing::TemporaryFolder folder;
  for (const std::int64_t stem : {1, 2}) {
    const auto tokenizer = small_tokenizer(config_with_factor(8, stem));
    const auto path = folder.path() / "tokenizer.safetensors";
    save_tokenizer(path, *tokenizer, R"({"data": "none"})");
    const auto again = load_tokenizer(path);
    EXPECT_EQ(again->config(), tokenizer->config());
    const Tensor pixels = torch::rand({1, 3, 16, 24});
    EXPECT_TRUE(again->latent(pixels).equal(tokenizer->latent(pixels)));
    VqganConfig from_shapes = vqgan_config_from(state_of(*tokenizer), "test");
    from_shapes.unit_codes = tokenizer->config().unit_codes;
    EXPECT_EQ(from_shapes, tokenizer->config());
  }
}

TEST(Vqgan, PresetsExist) {
  EXPECT_EQ(vqgan_preset("published"), VqganConfig{});
  EXPECT_EQ(vqgan_preset("light-4").factor(), 4);
  EXPECT_EQ(vqgan_preset("light-8").factor(), 8);
  EXPECT_EQ(vqgan_preset("light-16").factor(), 16);
  EXPECT_THROW(vqgan_preset("gigantic"), UsageError);
}

// Brightness as it was, colours as the mean of each 2x2 pixels, smoothly.
TEST(Vqgan, HalfChromaLeavesBrightnessAlone) {
  torch::manual_seed(3);
  const Tensor pixels = torch::rand({2, 3, 8, 8});
  const Tensor weights = torch::tensor({0.299F, 0.587F, 0.114F}).view({1, 3, 1, 1});
  const auto luma = [&](const Tensor& x) { return (x * weights).sum(1, true); };
  const Tensor made = with_half_chroma(pixels);
  EXPECT_LT((luma(made) - luma(pixels)).abs().max().item<double>(), 1e-6);
  const Tensor colour = pixels - luma(pixels);
  const Tensor smooth = at::upsample_bilinear2d(at::avg_pool2d(colour, 2), {8, 8}, false);
  EXPECT_LT((made - luma(pixels) - smooth).abs().max().item<double>(), 1e-6);
  const Tensor grey = luma(pixels).expand({2, 3, 8, 8});
  EXPECT_LT((with_half_chroma(grey) - grey).abs().max().item<double>(), 1e-6);
}

TEST(Vqgan, ANewEndingOfATrainedDecoderAddsNothingAtFirst) {
  torch::NoGradGuard no_grad;
  Vqgan trained(testing::small_tokenizer());
  initialise_vqgan(trained, RandomStream(1, "test"));
  VqganConfig ending = trained.config();
  ending.finish = 8;
  const Tensor ids = torch::randint(0, 32, {2, 4});
  const Tensor before = trained.decode_ids(ids, {2, 2});
  EXPECT_TRUE(torch::allclose(
      with_ending(trained, ending, RandomStream(2, "test"))->decode_ids(ids, {2, 2}), before));
  ending.half_chroma = true;
  const auto soft = with_ending(trained, ending, RandomStream(2, "test"));
  EXPECT_TRUE(torch::allclose(soft->decode_ids(ids, {2, 2}), with_half_chroma(before)));
  const testing::TemporaryFolder folder;
  save_tokenizer(folder.path() / "soft.safetensors", *soft, "{}");
  EXPECT_EQ(load_tokenizer(folder.path() / "soft.safetensors")->config(), ending);
}

TEST(Vqgan, Bf16StaysNear) {
  // Eight bits of mantissa through some ten layers.
  torch::NoGradGuard no_grad;
  const auto tokenizer = small_tokenizer(config_with_factor(4, 1));
  const Tensor ids = torch::randint(0, 32, {1, 4});
  const Tensor full = tokenizer->decode_ids(ids, {2, 2});
  const Bf16Scope scope(true);
  EXPECT_LT(relative_error(tokenizer->decode_ids(ids, {2, 2}), full), 0.05);
}

TEST(Vqgan, CodesThatStartOnPicturesAreUsedByThem) {
  Vqgan tokenizer(testing::small_tokenizer());
  initialise_vqgan(tokenizer, RandomStream(1, "test"));
  torch::manual_seed(2);
  const Tensor pixels = at::upsample_bilinear2d(torch::rand({16, 3, 4, 4}), {64, 64}, false);
  const auto used = [&] { return std::get<0>(at::_unique(tokenizer.encode(pixels))).numel(); };
  const std::int64_t before = used();
  tokenizer.start_codes_on(pixels);
  EXPECT_GT(used(), before);
  EXPECT_GE(used(), 24);  // of 32
  const Tensor codes = tokenizer.codebook().clone();
  tokenizer.start_codes_on(pixels.slice(0, 0, 1).slice(2, 0, 16).slice(3, 0, 16));  // 4 features
  EXPECT_TRUE(codes.equal(tokenizer.codebook()));
}

}  // namespace
}  // namespace addp
