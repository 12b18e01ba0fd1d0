// Fast sampling: what the bypass replaces, and what stays as it was.
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "checkpoint/format/safetensors.h"
#include "generate/edit.h"
#include "generate/recipe.h"
#include "generate/trajectory.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"
#include "support/small_addp.h"
#include "support/temporary_folder.h"
#include "support/torch_fixtures.h"

namespace addp {
namespace {

using testing::relative_error;

// Pictures decoded by the tokenizer while it lives: every decoding doubles the grid once.
class CountedDecodings {
 public:
  CountedDecodings() {
    count_ = 0;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& call)
                                       -> std::unique_ptr<at::ObserverContext> {
          const std::string_view name = call.name();
          if (name == "aten::conv_transpose2d" ||
              name == "mkldnn::_convolution_transpose_pointwise") {
            ++count_;
          }
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION}));
  }
  ~CountedDecodings() { at::removeCallback(handle_); }
  std::int64_t count() const { return count_; }

 private:
  inline static std::int64_t count_ = 0;
  at::CallbackHandle handle_;
};

class Fast : public ::testing::Test {
 protected:
  Fast() { model_.network->attach(testing::make_small_bypass(model_)); }

  Samples run(const SamplerOptions& options, const std::vector<std::uint64_t>& pictures,
              const SamplerHooks& hooks = {}) {
    StreamNoise noise(1, pictures);
    return generate(*model_.network, *model_.tokenizer,
                    SamplerStart::nothing(static_cast<std::int64_t>(pictures.size()), {4, 4}),
                    options, noise, hooks);
  }

  testing::SmallAddp model_ = testing::make_small_addp();
  const SamplerOptions fast_{.steps = 6, .fast = true}, exact_{.steps = 6};
};

TEST_F(Fast, OnlyTheLastPictureIsDecodedAndItIsTheRealDecoders) {
  {
    const CountedDecodings counted;
    run(exact_, {1, 2});
    EXPECT_EQ(counted.count(), 6);
  }
  const CountedDecodings counted;
  const Samples made = run(fast_, {1, 2});
  EXPECT_EQ(counted.count(), 1);
  torch::NoGradGuard no_grad;
  EXPECT_TRUE(made.pixels.equal(model_.tokenizer->decode_ids(made.tokens, {4, 4})));
}

TEST_F(Fast, TheBypassDecidesWhatComesOut) {
  const Samples first = run(fast_, {1, 2, 3, 4});
  EXPECT_TRUE(run(fast_, {1, 2, 3, 4}).pixels.equal(first.pixels));
  model_.network->attach(testing::make_small_bypass(model_, 2));
  EXPECT_FALSE(run(fast_, {1, 2, 3, 4}).tokens.equal(first.tokens));
}

TEST_F(Fast, APictureDoesNotDependOnItsBatch) {
  const Samples together = run(fast_, {7, 8, 9}), alone = run(fast_, {8});
  EXPECT_TRUE(alone.tokens[0].equal(together.tokens[1]));
  EXPECT_LT(relative_error(alone.pixels[0], together.pixels[1]), 1e-4);
}

// The encoder is given what it would make of the pixels, up to the network between: with what the
// real pixels become in front of any block in its place, the features are those of exact sampling.
TEST_F(Fast, EncodingCanBeginAtAnyBlock) {
  torch::NoGradGuard no_grad;
  Addp& addp = *model_.network;
  const Tensor pixels = torch::rand({2, 3, 32, 32});
  const ReliableTokens z_t{torch::zeros({2, 16}, torch::kInt64),
                           torch::arange(16).remainder(3).eq(0).expand({2, -1}), Grid{4, 4}};
  const Tensor whole = addp.encode(pixels, z_t);
  ASSERT_EQ(whole.size(1), z_t.positions().size(1));
  for (std::int64_t block = 0; block <= addp.config().encoder.vit.depth; ++block) {
    const Tensor state = addp.vit()->state_before(block, pixels);
    EXPECT_TRUE(addp.vit()->features_from(block, state, {}, z_t.positions() + 1).equal(whole))
        << block;
  }
}

TEST_F(Fast, StepsCanStillBeSeen) {
  std::vector<bool> decoded;
  Tensor last;
  Trajectory trajectory(*model_.tokenizer, {4, 4});
  const Samples made =
      run(fast_, {1, 2}, {.on_step = [&](const SamplerStep& step) {
            decoded.push_back(step.pixels.defined());
            const Tensor all = pixels_of(step, *model_.tokenizer);
            const Tensor one = pixels_of(step, *model_.tokenizer, torch::tensor({std::int64_t{1}}));
            EXPECT_EQ(all.sizes().vec(), (std::vector<std::int64_t>{2, 3, 32, 32}));
            EXPECT_LT(relative_error(one[0], all[1]), 1e-5);
            trajectory.add(step);
            last = all;
          }});
  EXPECT_EQ(decoded, (std::vector<bool>{false, false, false, false, false, true}));
  EXPECT_TRUE(last.equal(made.pixels));
  EXPECT_EQ(trajectory.frames(1).size(), 6U);
}

TEST_F(Fast, OtherSizesWorkToo) {
  StreamNoise noise(1, {0});
  const Samples made =
      generate(*model_.network, *model_.tokenizer, SamplerStart::nothing(1, {3, 6}), fast_, noise);
  EXPECT_EQ(made.pixels.sizes().vec(), (std::vector<std::int64_t>{1, 3, 24, 48}));
}

TEST_F(Fast, FillingInKeepsVisiblePixels) {
  const testing::TemporaryFolder folder;
  testing::write_small_addp(folder.path() / "model.safetensors", model_);
  const Generator generator = Generator::open(folder.path());
  EXPECT_TRUE(generator.can_be_fast());
  Image picture(40, 36);
  RandomStream random(3, "picture");
  for (auto& value : picture.pixels) value = static_cast<std::uint8_t>(random.integer(0, 255));
  const EditTask task = hide_box(picture, {5, 6, 20, 17});
  EditOptions options;
  options.generation.count = 2;
  options.generation.sampler = fast_;
  const CountedDecodings counted;
  const auto variants = fill_in(task, generator, options);
  EXPECT_EQ(counted.count(), options.fill.passes) << "one picture is decoded per pass";
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_NE(variants[0], picture);
  for (const Image& made : variants) {
    for (std::size_t i = 0; i < task.hidden.pixels.size(); ++i) {
      if (task.hidden.pixels[i] != 0) continue;
      for (std::size_t c = 0; c < 3; ++c) {
        ASSERT_EQ(made.pixels[3 * i + c], picture.pixels[3 * i + c]) << "pixel " << i;
      }
    }
  }
  EXPECT_EQ(picture_recipe(generator, options.generation, 0).at("addp:fast"), "true");
}

TEST_F(Fast, AModelWithoutBypassSaysHowToGetOne) {
  const testing::TemporaryFolder folder;
  testing::write_small_addp(folder.path() / "model.safetensors", testing::make_small_addp());
  const Generator generator = Generator::open(folder.path());
  EXPECT_FALSE(generator.can_be_fast());
  GenerationPlan plan;
  plan.sampler = fast_;
  try {
    generator.sample({0}, plan);
    FAIL() << "sampled fast without a bypass";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("addp distil"), std::string::npos) << error.what();
  }
}

TEST_F(Fast, FilesAreLoadedStrictly) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  testing::write_small_addp(path, model_);
  const LoadedAddp loaded = load_addp(path);
  ASSERT_NE(loaded.network->bypass(), nullptr);
  const auto parameters = loaded.network->bypass()->named_parameters();
  for (const auto& item : model_.network->bypass()->named_parameters()) {
    EXPECT_TRUE(parameters[item.key()].equal(item.value())) << item.key();
  }
  const Safetensors whole = read_safetensors(path);
  for (const char* name : {"bypass.mean", "bypass.blocks.0.conv1.weight"}) {
    TensorMap tensors = whole.tensors;
    EXPECT_EQ(tensors.erase(name), 1U) << name;
    write_safetensors(folder.path() / "less.safetensors", tensors, whole.metadata);
    EXPECT_THROW(load_addp(folder.path() / "less.safetensors"), DataError) << name;
  }
  TensorMap more = whole.tensors;
  more["bypass.blocks.7.conv1.weight"] = more.at("bypass.mean");
  write_safetensors(folder.path() / "more.safetensors", more, whole.metadata);
  EXPECT_THROW(load_addp(folder.path() / "more.safetensors"), DataError);
}

TEST_F(Fast, WhatAnEarlierVersionPreparedIsLeftBehind) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "model.safetensors";
  testing::write_small_addp(path, model_);
  Safetensors file = read_safetensors(path);
  auto config = nlohmann::json::parse(file.metadata.at("addp.config"));
  config["bypass"] = {{"code_width", 6}, {"width", 32}, {"blocks", 1}, {"patch_width", 128}};
  file.metadata["addp.config"] = config.dump();
  write_safetensors(folder.path() / "old.safetensors", file.tensors, file.metadata);
  EXPECT_EQ(load_addp(folder.path() / "old.safetensors").network->bypass(), nullptr);
}

TEST_F(Fast, ABypassMustFitItsEncoder) {
  const BypassConfig fits = model_.network->bypass()->config();
  BypassConfig deeper = fits, wider = fits;
  deeper.skip = model_.network->config().encoder.vit.depth + 1;
  wider.encoder_width *= 2;
  for (const BypassConfig& config : {deeper, wider}) {
    EXPECT_THROW(model_.network->attach(std::make_shared<Bypass>(config)), UsageError);
  }
  const testing::SmallAddp resnet = testing::make_small_addp("resnet-nano");
  EXPECT_THROW(resnet.network->attach(std::make_shared<Bypass>(fits)), UsageError);
}

TEST(Bypass, BeginsAtTheMeanAndCountsWhatItLeavesUnexplained) {
  Bypass bypass({.code_width = 4, .width = 32, .blocks = 1, .encoder_width = 6, .grid = {2, 2}});
  initialise_bypass(bypass, RandomStream(1, "bypass"));
  const Tensor states = 3 * torch::randn({8, 5, 6}) + torch::arange(5).view({1, 5, 1});
  bypass.start_on(states);
  const Tensor predicted = bypass.forward(torch::randn({8, 4, 4}), {2, 2});
  EXPECT_LT(relative_error(predicted, states.mean(0, true).expand_as(predicted)), 1e-5);
  EXPECT_NEAR(bypass.unexplained(predicted, states).item<double>(), 1, 1e-4);
  EXPECT_EQ(bypass.unexplained(states, states).item<double>(), 0);
  EXPECT_THROW(Bypass({.code_width = 4, .width = 0, .encoder_width = 6}), UsageError);
  EXPECT_EQ(usual_bypass_width(768), 256);
  EXPECT_EQ(usual_bypass_width(128), 64);
  EXPECT_EQ(usual_bypass_skip(12), 4);
}

}  // namespace
}  // namespace addp
