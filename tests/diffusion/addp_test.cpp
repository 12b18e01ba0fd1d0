// The ADDP network and Algorithm 1 beyond the recorded step: switches, grids, files, gradients.
#include "diffusion/addp.h"

#include <gtest/gtest.h>

#include "diffusion/addp_file.h"
#include "diffusion/algorithm1.h"
#include "diffusion/noisy_pixels.h"
#include "machine/precision.h"
#include "model/init.h"
#include "model/whole/parameter_report.h"
#include "nn/torch.h"
#include "support/fixtures.h"
#include "support/temporary_folder.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::relative_error;

constexpr std::int64_t kFactor = 4;
const Vocabulary kVocabulary{.codes = 40, .class_ids = 2};

AddpConfig small_config(TokenInput input = TokenInput::kDecoder) {
  AddpConfig config;
  config.vocabulary = kVocabulary;
  config.encoder.vit.width = config.decoder_width = 16;
  config.encoder.vit.depth = config.decoder_depth = 2;
  config.encoder.vit.heads = config.decoder_heads = 4;
  config.encoder.vit.patch = kFactor;
  config.grid = config.encoder.vit.grid = {3, 5};
  config.token_input = input;
  return config;
}

struct SmallNetworks {
  std::shared_ptr<Vqgan> tokenizer;
  std::shared_ptr<Mage> predictor;
  std::shared_ptr<Addp> addp;

  explicit SmallNetworks(const AddpConfig& config = small_config()) {
    VqganConfig vq{
        .channels = 8, .multipliers = {1, 1, 2}, .blocks = 1, .codes = 40, .code_width = 6};
    tokenizer = std::make_shared<Vqgan>(vq);
    initialise_vqgan(*tokenizer, RandomStream(1, "tokenizer"));
    MageConfig mage;
    mage.vocabulary = kVocabulary;
    mage.grid = config.grid;
    mage.width = mage.decoder_width = 16;
    mage.depth = mage.decoder_depth = 1;
    mage.heads = mage.decoder_heads = 2;
    predictor = std::make_shared<Mage>(mage);
    initialise(*predictor, RandomStream(1, "predictor"));
    addp = std::make_shared<Addp>(config);
    initialise(*addp, RandomStream(1, "addp"));
  }

  FrozenNetworks frozen() const { return {tokenizer.get(), predictor.get()}; }
};

Tensor some_tokens(std::int64_t batch, const Grid& grid) {
  return (torch::arange(batch * grid.area(), torch::kInt64) * 7).remainder(40).view({batch, -1});
}

double loss_of(SmallNetworks& nets, const DiffusionOptions& options, std::uint64_t seed = 1,
               DropoutKeys* keys = nullptr, const Grid& grid = {3, 5}) {
  return pretraining_loss(*nets.addp, nets.frozen(), {some_tokens(2, grid), grid},
                          PretrainingOptions(options), RandomStream(seed, "step"), keys)
      .value.item<double>();
}

TEST(Addp, EveryTrainedParameterGetsAGradientWithEverySwitch) {
  for (const TokenInput input :
       {TokenInput::kDecoder, TokenInput::kEncoderAndDecoder, TokenInput::kNone}) {
    SmallNetworks nets(small_config(input));
    for (const Grid& grid : {Grid{3, 5}, Grid{4, 2}}) {
      nets.addp->zero_grad();
      const PretrainingOptions options({.mask = {.highest = 0.9}});
      DropoutKeys keys(RandomStream(2, "dropout"));
      pretraining_loss(*nets.addp, nets.frozen(), {some_tokens(2, grid), grid}, options,
                       RandomStream(1, "step"), &keys)
          .value.backward();
      for (const auto& item : nets.addp->named_parameters()) {
        // The head takes the embeddings as they are: without token input nothing trains them.
        if (input == TokenInput::kNone && item.key() == "token_emb.weight") continue;
        ASSERT_TRUE(item.value().grad().defined()) << item.key();
        EXPECT_GT(item.value().grad().abs().max().item<double>(), 0) << item.key();
      }
      for (const auto& frozen : {nets.tokenizer->parameters(), nets.predictor->parameters()}) {
        for (const Tensor& parameter : frozen) EXPECT_FALSE(parameter.grad().defined());
      }
    }
  }
}

TEST(Addp, ResNetEncoderKeepsTheGrid) {
  AddpConfig config = small_config();
  config.encoder.kind = EncoderKind::kResNet;
  config.encoder.resnet.trunk = {.depths = {1, 1, 1, 1}, .width = 4, .classes = 0};
  config.encoder.resnet.stride = kFactor;
  config.encoder.resnet.width = 16;
  SmallNetworks nets(config);
  nets.addp->train();
  const Grid grid{8, 16};
  const Tensor loss = pretraining_loss(*nets.addp, nets.frozen(), {some_tokens(2, grid), grid},
                                       PretrainingOptions(), RandomStream(1, "step"), nullptr)
                          .value;
  loss.backward();
  for (const auto& item : nets.addp->named_parameters()) {
    EXPECT_TRUE(item.value().grad().defined()) << item.key();
  }
  config.token_input = TokenInput::kEncoderAndDecoder;
  SmallNetworks refusing(config);
  EXPECT_THROW(loss_of(refusing, {}, 1, nullptr, grid), UsageError);
}

TEST(Algorithm1, NoTargetIsMissedByLessThanItsFloor) {
  torch::NoGradGuard no_grad;
  SmallNetworks nets;
  const Grid grid{3, 5};
  for (const Target target : {Target::kPredictor, Target::kTruth, Target::kBoth}) {
    PretrainingOptions options({.target = target});
    options.with_floor = true;
    const PretrainingLoss loss =
        pretraining_loss(*nets.addp, nets.frozen(), {some_tokens(2, grid), grid}, options,
                         RandomStream(1, "step"), nullptr);
    EXPECT_GT(loss.floor.item<double>(), 0);
    EXPECT_LT(loss.floor.item<double>(), loss.value.item<double>());
  }
}

TEST(Algorithm1, SwitchesChangeTheLossAndTheStreamDecidesTheRest) {
  torch::NoGradGuard no_grad;
  SmallNetworks nets;
  const double standard = loss_of(nets, {});
  EXPECT_EQ(standard, loss_of(nets, {}));
  EXPECT_NE(standard, loss_of(nets, {}, 2));
  EXPECT_NE(standard, loss_of(nets, {.mapping = Mapping::kArgMax}));
  EXPECT_NE(standard, loss_of(nets, {.mapping = Mapping::kSampling}));
  EXPECT_NE(standard, loss_of(nets, {.condition = Condition::kSame}));
  const double truth = loss_of(nets, {.target = Target::kTruth});
  EXPECT_NE(standard, truth);
  // Cross-entropy is linear in its target.
  EXPECT_NEAR(loss_of(nets, {.target = Target::kBoth}), (standard + truth) / 2, 1e-5);
  EXPECT_NE(standard, loss_of(nets, {.label_smoothing = 0}));
}

TEST(Algorithm1, TheFrozenPredictorsDropoutIsASwitch) {
  torch::NoGradGuard no_grad;
  SmallNetworks nets;
  const auto dropped = [&](bool active) {
    DropoutKeys keys(RandomStream(3, "dropout"));
    return loss_of(nets, {.predictor_dropout = active}, 1, &keys);
  };
  EXPECT_EQ(dropped(false), dropped(false));
  EXPECT_NE(dropped(false), dropped(true));
}

TEST(Addp, WithEverythingMaskedTheEncoderIsNotNeeded) {
  torch::NoGradGuard no_grad;
  SmallNetworks nets;
  const Grid grid{3, 5};
  const ReliableTokens nothing{some_tokens(2, grid), torch::ones({2, grid.area()}, torch::kBool),
                               grid};
  const Tensor e = nets.addp->encode(torch::rand({2, 3, 12, 20}), nothing);
  EXPECT_FALSE(e.defined());
  const Tensor without = nets.addp->decode(e, nothing);
  at::AutoGradMode with_gradient(true);
  const Tensor empty = nets.addp->encode(torch::rand({2, 3, 12, 20}), nothing);
  EXPECT_EQ(empty.size(1), 0);
  EXPECT_TRUE(nets.addp->decode(empty, nothing).equal(without));
}

TEST(Addp, UnreliableTokensAreNotLookedAtByTheDecoder) {
  torch::NoGradGuard no_grad;
  SmallNetworks nets;
  const Grid grid{3, 5};
  const Tensor masked = torch::arange(grid.area()).remainder(2).eq(0).expand({2, -1});
  const Tensor tokens = some_tokens(2, grid), e = torch::randn({2, grid.area() / 2, 16});
  const Tensor other = at::where(masked, (tokens + 3).remainder(40), tokens);
  const Tensor decoded = nets.addp->decode(e, {tokens, masked, grid});
  EXPECT_EQ(decoded.size(1), grid.area() - grid.area() / 2);
  EXPECT_TRUE(decoded.equal(nets.addp->decode(e, {other, masked, grid})));
  Tensor uneven = masked.clone();
  uneven[0][1] = true;
  EXPECT_THROW(nets.addp->decode(e, {tokens, uneven, grid}), UsageError);
}

TEST(ModelIo, FilesGiveTheSameNetworksBack) {
  torch::NoGradGuard no_grad;
  const testing::TemporaryFolder folder;
  SmallNetworks nets;
  save_addp(folder.path(), *nets.addp, *nets.tokenizer, R"({"data": "none", "steps": 3})");
  const LoadedAddp again = load_addp(folder.path());
  EXPECT_EQ(again.provenance.at("steps"), 3);
  EXPECT_EQ(again.tokenizer->config(), nets.tokenizer->config());
  EXPECT_EQ(nlohmann::json(again.network->config()), nlohmann::json(nets.addp->config()));
  const Grid grid{3, 5};
  const Tensor tokens = some_tokens(1, grid),
               masked = torch::arange(grid.area()).remainder(2).eq(0).unsqueeze(0);
  const Tensor pixels = torch::rand({1, 3, 12, 20});
  const ReliableTokens z{tokens, masked, grid};
  EXPECT_TRUE(again.network->decode(again.network->encode(pixels, z), z)
                  .equal(nets.addp->decode(nets.addp->encode(pixels, z), z)));

  const auto file = folder.path() / "predictor.safetensors";
  save_predictor(file, *nets.predictor, *nets.tokenizer, "{}");
  EXPECT_TRUE(load_predictor(file)
                  ->distribution(tokens, masked, grid)
                  .equal(nets.predictor->distribution(tokens, masked, grid)));
  EXPECT_EQ(load_tokenizer(file)->config(), nets.tokenizer->config());
  EXPECT_THROW(load_addp(file), DataError) << "a predictor is no ADDP model";
}

TEST(ModelIo, PublishedFilesNeedTheirTokenizerAndNothingIsDroppedSilently) {
  for (const auto& folder : testing::network_fixtures()) {
    EXPECT_THROW(load_addp(folder / "addp.pth"), DataError);
    const LoadedAddp loaded = load_addp(folder / "addp.pth", folder / "vqgan.ckpt");
    const std::vector<std::string> wanted = {"decoder_pos_embed", "decoder_pred.bias",
                                             "decoder_pred.weight", "pos_mask_embed",
                                             "pos_token_embed"};
    std::vector<std::string> unused = loaded.report.unused;
    std::sort(unused.begin(), unused.end());
    EXPECT_EQ(unused, wanted);
    EXPECT_THROW(load_addp(folder / "mage.pth", folder / "vqgan.ckpt"), DataError);
  }
}

TEST(ParameterReport, GivesThePapersFigures) {
  const auto millions = [](std::int64_t count) {
    return std::llround(static_cast<double>(count) / 1e6);
  };
  const std::vector<std::tuple<const char*, int, int>> table = {
      {"base", 86, 90}, {"large", 304, 135}, {"resnet50", 26, 90}};
  for (const auto& [name, recognition, generation] : table) {
    const char* predictor = std::string_view(name) == "large" ? "large" : "base";
    const ParameterReport report = parameter_report(addp_preset(name, {}, {}, 16), VqganConfig{},
                                                    mage_preset(predictor, {}, {}));
    EXPECT_EQ(millions(report.recognition), recognition) << name;
    EXPECT_EQ(millions(report.generation), generation) << name;
    std::int64_t total = 0;
    for (const auto& [part, count] : report.parts) {
      EXPECT_GT(count, 0) << part;
      total += count;
    }
    EXPECT_GT(total, report.recognition + report.generation);
  }
}

TEST(Addp, Bf16StaysNear) {
  torch::NoGradGuard no_grad;
  SmallNetworks nets;
  const double full = loss_of(nets, {});
  const Bf16Scope scope(true);
  EXPECT_NEAR(loss_of(nets, {}), full, 0.02 * full);
}

}  // namespace
}  // namespace addp
