// Algorithm 2: the recorded run of the released program, and what must hold for every run.
#include "generate/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "diffusion/addp_file.h"
#include "model/init.h"
#include "nn/torch.h"
#include "support/network_fixture.h"

namespace addp {
namespace {

using testing::kParity;
using testing::relative_error;

// Plays back what the released program drew.
class RecordedNoise : public SamplerNoise {
 public:
  explicit RecordedNoise(const testing::Tensors& recorded) : recorded_(recorded) {}

  Tensor draw(std::int64_t step, const Tensor&) override { return at(step, "sampled"); }
  Tensor gumbel(std::int64_t step, std::int64_t, std::int64_t) override {
    return at(step, "gumbel");
  }
  Tensor uniform(std::int64_t, std::int64_t, std::int64_t) override { return {}; }
  void keep(const std::vector<std::int64_t>&) override { FAIL() << "all go on"; }
  const Tensor& at(std::int64_t step, const char* what) const {
    return recorded_.at(std::to_string(step) + "." + what);
  }

 private:
  const testing::Tensors& recorded_;
};

std::int64_t recorded_steps(const testing::Tensors& recorded) {
  std::int64_t steps = 0;
  while (recorded.contains(std::to_string(steps) + ".tokens")) ++steps;
  return steps;
}

// Whether the released program may leave this many tokens masked after a step: at least one, and
// what the schedule says rounded up. A whole number counts either way, as it may carry an error of
// rounding: 256 cos(pi/3) is 128 or 129.
bool may_be_left(std::int64_t count, MaskCurve curve, std::int64_t step, std::int64_t steps,
                 std::int64_t length) {
  const double done = static_cast<double>(step + 1) / static_cast<double>(steps);
  const double share =
      curve == MaskCurve::kCosine ? std::cos(std::numbers::pi / 2 * done) : 1 - done;
  const double exact = static_cast<double>(length) * share;
  const auto left = [&](double error) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(exact + error)));
  };
  return count == left(-1e-4) || count == left(1e-4);
}

// The schedule that gives every one of the recorded counts; one of them only does.
MaskCurve curve_of_counts(const std::vector<std::int64_t>& counts, std::int64_t length) {
  const auto steps = static_cast<std::int64_t>(counts.size());
  const auto fits = [&](MaskCurve curve) {
    for (std::int64_t step = 0; step < steps; ++step) {
      if (!may_be_left(counts[static_cast<std::size_t>(step)], curve, step, steps, length)) {
        return false;
      }
    }
    return true;
  };
  EXPECT_NE(fits(MaskCurve::kCosine), fits(MaskCurve::kLinear))
      << "the recorded counts belong to neither schedule, or to both";
  return fits(MaskCurve::kCosine) ? MaskCurve::kCosine : MaskCurve::kLinear;
}

// What the fixture says, in its facts or the file's metadata, else what its counts tell.
MaskCurve recorded_curve(const std::filesystem::path& folder, const testing::Tensors& recorded) {
  std::vector<std::int64_t> counts;
  for (std::int64_t step = 0; step < recorded_steps(recorded); ++step) {
    counts.push_back(static_cast<std::int64_t>(
        recorded.at(std::to_string(step) + ".mask_next")[0].sum().item<double>()));
  }
  const MaskCurve counted = curve_of_counts(counts, recorded.at("0.tokens").size(1));
  std::string said = testing::recorded_facts(folder).value("schedule", "");
  const auto metadata = read_safetensors(folder / "generate.safetensors").metadata;
  if (const auto found = metadata.find("schedule"); found != metadata.end()) said = found->second;
  if (!said.empty()) {
    EXPECT_EQ(said, counted == MaskCurve::kCosine ? "cosine" : "linear");
  }
  return counted;
}

TEST(Sampler, SchedulesAreToldApartByAllCounts) {
  EXPECT_EQ(curve_of_counts({214, 171, 128, 86, 43, 1}, 256), MaskCurve::kLinear);
  EXPECT_EQ(curve_of_counts({248, 222, 182, 128, 67, 1}, 256), MaskCurve::kCosine);
  for (const MaskCurve curve : {MaskCurve::kCosine, MaskCurve::kLinear}) {
    for (std::int64_t steps = 2; steps <= 32; ++steps) {
      std::vector<std::int64_t> counts;
      const SamplerOptions options{.steps = steps, .curve = curve, .keep_last_unreliable = true};
      for (std::int64_t step = 0; step < steps; ++step) {
        counts.push_back(still_masked(256, step, options));
      }
      EXPECT_EQ(curve_of_counts(counts, 256), curve) << steps;
    }
  }
}

// How far the logits of a step are from the recorded ones, of every so many positions, where tokens
// were unreliable when the step began: elsewhere ours has none.
double logit_error(const SamplerStep& step, const Tensor& recorded, const Tensor& unreliable) {
  const std::int64_t length = unreliable.size(1), stride = length / recorded.size(1);
  const auto compared = [&](const Tensor& all) { return all.slice(1, 0, length, stride); };
  return relative_error(compared(step.logits), recorded * compared(unreliable).unsqueeze(2));
}

// The distance from the recorded logits in the first step, which knows the decoder alone, and, when
// that fits, in the second.
double first_errors(const LoadedAddp& model, const testing::Tensors& recorded, MaskCurve curve) {
  const std::int64_t steps = recorded_steps(recorded);
  const auto start =
      SamplerStart::nothing(recorded.at("0.tokens").size(0), model.network->config().grid);
  RecordedNoise noise(recorded);
  Tensor unreliable = start.masked;
  double error = 0;
  const SamplerHooks hooks{.on_step =
                               [&](const SamplerStep& s) {
                                 error = logit_error(s, noise.at(s.step, "logits"), unreliable);
                                 unreliable = s.masked;
                                 if (error > kParity || s.step == 1)
                                   throw InterruptedError("known");
                               },
                           .cancelled = {}};
  try {
    generate(*model.network, *model.tokenizer, start, {.steps = steps, .curve = curve}, noise,
             hooks);
  } catch (const InterruptedError&) {
  }
  return error;
}

LoadedAddp load_fitting(const std::filesystem::path& folder, const testing::Tensors& recorded,
                        MaskCurve curve) {
  const auto load = [&](HeadCounts heads) {
    return load_addp(folder / "addp.pth", folder / "vqgan.ckpt", heads);
  };
  const AddpConfig usual = load({}).network->config();
  std::vector<HeadCounts> candidates;
  for (const auto decoder :
       testing::possible_heads(folder, "decoder_heads", usual.decoder_heads, usual.decoder_width)) {
    for (const auto encoder : testing::possible_heads(
             folder, "encoder_heads", usual.encoder.vit.heads, usual.encoder.vit.width)) {
      candidates.push_back({encoder, decoder});
    }
  }
  return load(testing::best_fit(candidates, [&](const HeadCounts& heads) {
    return first_errors(load(heads), recorded, curve);
  }));
}

TEST(Sampler, ReplaysTheRecordedRun) {
  ADDP_FOR_EACH_NETWORK_FIXTURE(folder) {
    SCOPED_TRACE(folder);
    const auto recorded = testing::load_tensors(folder / "generate.safetensors");
    const MaskCurve curve = recorded_curve(folder, recorded);
    const LoadedAddp model = load_fitting(folder, recorded, curve);
    RecordedNoise noise(recorded);
    const std::int64_t steps = recorded_steps(recorded);
    const SamplerOptions options{.steps = steps, .curve = curve, .keep_last_unreliable = true};
    std::int64_t seen = 0;
    const auto start =
        SamplerStart::nothing(recorded.at("0.tokens").size(0), model.network->config().grid);
    Tensor unreliable = start.masked;
    const Samples samples =
        generate(*model.network, *model.tokenizer, start, options, noise,
                 {.on_step = [&](const SamplerStep& s) {
                   SCOPED_TRACE(::testing::Message() << "step " << s.step);
                   ++seen;
                   EXPECT_LT(logit_error(s, noise.at(s.step, "logits"), unreliable), kParity);
                   unreliable = s.masked;
                   EXPECT_TRUE(s.tokens.equal(noise.at(s.step, "tokens")));
                   EXPECT_TRUE(s.masked.equal(testing::as_mask(noise.at(s.step, "mask_next"))));
                 }});
    EXPECT_EQ(seen, steps);
    EXPECT_LT((samples.pixels - recorded.at("image")).abs().max().item<double>(), 1e-3);
  }
}

struct SmallModel {
  std::shared_ptr<Vqgan> tokenizer;
  std::shared_ptr<Addp> addp;
  std::shared_ptr<Mage> predictor;
  Grid grid{3, 4};

  SmallModel() {
    tokenizer = std::make_shared<Vqgan>(VqganConfig{
        .channels = 8, .multipliers = {1, 1, 2}, .blocks = 1, .codes = 24, .code_width = 6});
    initialise_vqgan(*tokenizer, RandomStream(1, "tokenizer"));
    fill_normal(tokenizer->named_parameters()["quantize.embedding.weight"], 1,
                RandomStream(1, "codes"));
    const Vocabulary vocabulary{.codes = 24, .class_ids = 1};
    AddpConfig config = addp_preset("tiny", vocabulary, grid, 4);
    config.encoder.vit.width = config.decoder_width = 12;
    config.encoder.vit.depth = config.decoder_depth = 1;
    addp = std::make_shared<Addp>(config);
    initialise(*addp, RandomStream(1, "addp"));
    MageConfig mage = mage_preset("tiny", vocabulary, grid);
    mage.width = mage.decoder_width = 12;
    mage.depth = mage.decoder_depth = 1;
    predictor = std::make_shared<Mage>(mage);
    initialise(*predictor, RandomStream(1, "mage"));
  }

  Samples run(const SamplerOptions& options, std::vector<std::uint64_t> pictures,
              const SamplerHooks& hooks = {}, std::uint64_t seed = 1) {
    StreamNoise noise(seed, pictures);
    return generate(*addp, *tokenizer,
                    SamplerStart::nothing(static_cast<std::int64_t>(pictures.size()), grid),
                    options, noise, hooks);
  }
};

TEST(Sampler, APictureDoesNotDependOnItsBatchOrTheThreads) {
  SmallModel model;
  const SamplerOptions options{.steps = 5, .mapping = Mapping::kSampling};
  const Samples together = model.run(options, {7, 8, 9});
  const int threads = torch::get_num_threads();
  torch::set_num_threads(1);
  const Samples alone = model.run(options, {8});
  torch::set_num_threads(threads);
  EXPECT_TRUE(alone.tokens[0].equal(together.tokens[1]));
  EXPECT_LT(relative_error(alone.pixels[0], together.pixels[1]), 1e-4);
  EXPECT_FALSE(together.tokens[0].equal(together.tokens[1]));
  EXPECT_FALSE(model.run(options, {8}, {}, 2).tokens.equal(alone.tokens));
}

TEST(Sampler, MasksNestFallAndEndEmpty) {
  SmallModel model;
  for (const MaskCurve curve : {MaskCurve::kCosine, MaskCurve::kLinear}) {
    for (const bool keep : {false, true}) {
      const SamplerOptions options{.steps = 6, .curve = curve, .keep_last_unreliable = keep};
      Tensor before = torch::ones({2, model.grid.area()}, torch::kBool), tokens;
      model.run(options, {1, 2}, {.on_step = [&](const SamplerStep& s) {
                  EXPECT_TRUE(s.masked.logical_and(before).equal(s.masked))
                      << "a reliable token was masked";
                  if (tokens.defined()) {
                    EXPECT_TRUE(at::where(before, s.tokens, tokens).equal(s.tokens))
                        << "a reliable token changed";
                  }
                  const std::int64_t left = still_masked(model.grid.area(), s.step, options);
                  EXPECT_TRUE((s.masked.sum(1) == left).all().item<bool>());
                  before = s.masked;
                  tokens = s.tokens;
                }});
      EXPECT_EQ(before.sum().item<std::int64_t>(), keep ? 2 : 0);
    }
  }
}

TEST(Sampler, TheFinalPictureShowsTheFinalTokens) {
  SmallModel model;
  const Samples samples = model.run({.steps = 4}, {1, 2});
  torch::NoGradGuard no_grad;
  EXPECT_LT(relative_error(samples.pixels, model.tokenizer->decode_ids(samples.tokens, model.grid)),
            1e-5);
}

TEST(Sampler, PicturesOfSeveralSeedsShareABatch) {
  SmallModel model;
  const SamplerOptions options{.steps = 4};
  StreamNoise noise({{.seed = 5, .number = 0}, {.seed = 6, .number = 3}});
  const Samples together =
      generate(*model.addp, *model.tokenizer, SamplerStart::nothing(2, model.grid), options, noise);
  const Samples first = model.run(options, {0}, {}, 5), second = model.run(options, {3}, {}, 6);
  EXPECT_TRUE(together.tokens[0].equal(first.tokens[0]));
  EXPECT_TRUE(together.tokens[1].equal(second.tokens[0]));
  EXPECT_FALSE(first.tokens.equal(second.tokens));
}

TEST(Sampler, KnownTokensStay) {
  SmallModel model;
  SamplerStart start = SamplerStart::nothing(2, model.grid);
  start.tokens = torch::arange(24).view({2, 12});
  start.masked = torch::arange(12).remainder(3).eq(0).expand({2, -1});
  StreamNoise noise(1, {0, 1});
  const Samples samples = generate(*model.addp, *model.tokenizer, start, {.steps = 3}, noise);
  EXPECT_TRUE(at::where(start.masked, start.tokens, samples.tokens).equal(start.tokens));
  start.masked = start.masked.clone();
  start.masked[0][1] = true;
  EXPECT_THROW(generate(*model.addp, *model.tokenizer, start, {}, noise), UsageError);
}

TEST(Sampler, CanBeCancelled) {
  SmallModel model;
  std::int64_t steps = 0;
  const SamplerHooks hooks{.on_step = [&](const SamplerStep&) { ++steps; },
                           .cancelled = [&] { return steps == 2; }};
  EXPECT_THROW(model.run({.steps = 10}, {1}, hooks), InterruptedError);
  EXPECT_EQ(steps, 2);
}

TEST(Sampler, RowsThatNobodyWantsAreComputedNoFurther) {
  SmallModel model;
  const SamplerOptions options{.steps = 6, .mapping = Mapping::kSampling};
  std::int64_t asked = 0;
  std::vector<std::int64_t> rows;
  const SamplerHooks hooks{
      .on_step = [&](const SamplerStep& s) { rows.push_back(s.tokens.size(0)); },
      .wanted = [&]() -> std::vector<std::int64_t> {
        ++asked;
        if (asked == 3) return {0, 2, 3};
        if (asked == 5) return {1, 2};
        return asked < 3   ? std::vector<std::int64_t>{0, 1, 2, 3}
               : asked < 5 ? std::vector<std::int64_t>{0, 1, 2}
                           : std::vector<std::int64_t>{0, 1};
      }};
  const Samples kept = model.run(options, {7, 8, 9, 10}, hooks);
  EXPECT_EQ(rows, (std::vector<std::int64_t>{4, 4, 3, 3, 2, 2}));
  const Samples alone = model.run(options, {9, 10});
  EXPECT_TRUE(kept.tokens.equal(alone.tokens));
  EXPECT_LT(relative_error(kept.pixels, alone.pixels), 1e-4);
  EXPECT_THROW(model.run(options, {7}, {.wanted = [] { return std::vector<std::int64_t>(); }}),
               InterruptedError);
}

TEST(Sampler, SenselessOptionsAreRefused) {
  SmallModel model;
  EXPECT_THROW(model.run({.steps = 0}, {1}), UsageError);
  EXPECT_THROW(model.run({.temperature = -1}, {1}), UsageError);
  EXPECT_THROW(model.run({.top_p = 0}, {1}), UsageError);
}

TEST(Sampler, ThePredictorAloneSamplesToo) {
  SmallModel model;
  StreamNoise noise(1, {0, 1});
  const Samples samples =
      sample_predictor(*model.predictor, *model.tokenizer, SamplerStart::nothing(2, model.grid),
                       {.steps = 4}, noise);
  EXPECT_EQ(samples.pixels.sizes().vec(), (std::vector<std::int64_t>{2, 3, 12, 16}));
  EXPECT_LT(samples.tokens.max().item<std::int64_t>(), 24);
}

TEST(Sampling, TopPKeepsTheLikeliest) {
  const Tensor p = torch::tensor({{{0.1F, 0.5F, 0.15F, 0.25F}}});
  EXPECT_TRUE(keep_top_p(p, 1).equal(p));
  EXPECT_TRUE(keep_top_p(p, 0.6).equal(torch::tensor({{{0.F, 0.5F, 0.F, 0.25F}}})));
  EXPECT_TRUE(keep_top_p(p, 1e-6).equal(torch::tensor({{{0.F, 0.5F, 0.F, 0.F}}})));
}

TEST(Sampling, SchedulesFollowTheirFormulas) {
  const SamplerOptions cosine{.steps = 8}, linear{.steps = 256, .curve = MaskCurve::kLinear};
  EXPECT_EQ(still_masked(256, 0, cosine), 252);  // 256 cos(pi/16) = 251.08
  EXPECT_EQ(still_masked(256, 3, cosine), 182);  // 256 cos(pi/4) = 181.02
  EXPECT_EQ(still_masked(256, 7, cosine), 0);
  for (std::int64_t step = 0; step < 256; ++step)
    EXPECT_EQ(still_masked(256, step, linear), 255 - step);
}

TEST(Sampling, TheLeastConfidentStayMasked) {
  const Tensor log_p = torch::tensor({{-1.F, -5.F, -2.F, -9.F}});
  const Tensor noise = torch::tensor({{0.F, 0.F, 0.F, 0.F}});
  const Tensor masked = torch::tensor({{true, true, true, false}});
  EXPECT_TRUE(least_confident(log_p, noise, 1, masked, 2)
                  .equal(torch::tensor({{false, true, true, false}})));
  const Tensor push = torch::tensor({{-10.F, 0.F, 0.F, 0.F}});
  EXPECT_TRUE(least_confident(log_p, push, 1, masked, 1)
                  .equal(torch::tensor({{true, false, false, false}})));
  EXPECT_TRUE(least_confident(log_p, noise, 1, masked, 0).equal(torch::zeros_like(masked)));
}

}  // namespace
}  // namespace addp
