#include "commands/machine/bench_train.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/json_text.h"
#include "base/run/subprocess.h"
#include "commands/machine/bench_generate.h"
#include "commands/machine/profile_report.h"
#include "diffusion/algorithm1.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "model/init.h"
#include "model/whole/preset_configs.h"
#include "nn/torch.h"
#include "predictor/mage_training.h"
#include "train/learner.h"

namespace addp {
namespace {

// The networks of a stage with random weights, and one training step on random data.
class BenchStage {
 public:
  BenchStage(const BenchTrainOptions& options, bool bf16) : options_(options), bf16_(bf16) {
    const PresetConfigs configs = preset_configs(options.preset);
    grid_ = configs.addp.grid;
    tokenizer_ = on_device(std::make_shared<Vqgan>(configs.tokenizer));
    initialise_vqgan(*tokenizer_, RandomStream(0, "bench"));
    predictor_ = on_device(std::make_shared<Mage>(configs.predictor));
    initialise(*predictor_, RandomStream(0, "bench"));
    addp_ = on_device(std::make_shared<Addp>(configs.addp));
    initialise(*addp_, RandomStream(0, "bench"));
    torch::nn::Module& trained =
        options.stage == "tokenizer"   ? static_cast<torch::nn::Module&>(*tokenizer_)
        : options.stage == "predictor" ? static_cast<torch::nn::Module&>(*predictor_)
                                       : *addp_;
    learner_ = std::make_unique<Learner>("bench", make_adamw(decay_groups(trained, 0.05), {}),
                                         LearnerOptions{.clip = 3}, world_);
    tokens_ = torch::randint(configs.tokenizer.codes, {options.batch, grid_.area()}, torch::kInt64)
                  .to(compute_device());
    const std::int64_t factor = configs.tokenizer.factor();
    pixels_ = torch::rand({options.batch, 3, grid_.height * factor, grid_.width * factor})
                  .to(compute_device());
  }

  void step(std::uint64_t number) {
    const RandomStream stream(0, "bench step", number);
    DropoutKeys keys(stream.fork("dropout"));
    Bf16Scope scope(bf16_);
    learner_->backward(loss(stream, &keys), 1, true);
    learner_->update(1e-4);
  }

 private:
  Tensor loss(const RandomStream& stream, DropoutKeys* keys) {
    if (options_.stage == "tokenizer") {
      const Quantized quantized =
          tokenizer_->quantize(tokenizer_->latent(pixels_).to(torch::kFloat32));
      const Tensor made = tokenizer_->decode(quantized.embeddings).to(torch::kFloat32);
      return (made - pixels_).abs().mean() + quantized.codebook_loss +
             0.25 * quantized.commitment_loss;
    }
    if (options_.stage == "predictor") {
      const MageMask mask =
          sample_mage_mask(options_.batch, grid_.area(), {}, stream).to(tokens_.device());
      return mage_loss(*predictor_, tokens_, mask, grid_, 0.1, keys);
    }
    return pretraining_loss(*addp_, {tokenizer_.get(), predictor_.get()}, {tokens_, grid_},
                            pretraining_, stream, keys)
        .value;
  }

  BenchTrainOptions options_;
  bool bf16_;
  Grid grid_;
  World world_;
  PretrainingOptions pretraining_;
  std::shared_ptr<Vqgan> tokenizer_;
  std::shared_ptr<Mage> predictor_;
  std::shared_ptr<Addp> addp_;
  std::unique_ptr<Learner> learner_;
  Tensor tokens_, pixels_;
};

// Of all threads of this process.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Watching costs some time itself, so it is done only where a profile is wanted.
ProfiledWork measure(const BenchTrainOptions& options, bool bf16) {
  using Steady = std::chrono::steady_clock;
  BenchStage stage(options, bf16);
  stage.step(0);
  stage.step(1);
  std::optional<OperationProfile> profile;
  if (options.profile) profile.emplace();
  const auto start = Steady::now();
  const double processor_start = processor_seconds();
  ProfiledWork work;
  for (std::uint64_t steps = 0; work.seconds < options.seconds || steps < 3; ++steps) {
    throw_if_interrupted("there is no figure");
    stage.step(2 + steps);
    work.seconds = std::chrono::duration<double>(Steady::now() - start).count();
    work.pictures += options.batch;
  }
  work.processor_seconds = processor_seconds() - processor_start;
  if (profile) work.rows = profile->rows();
  return work;
}

// Asked for by name it is measured even where it is slow; auto is what is computed here.
std::string asked_for(const BenchTrainOptions& options) {
  return options.precision == Precision::kBfloat16 || bf16_here(options.precision) ? "bf16"
                                                                                   : "fp32";
}

double reference_rate(const BenchTrainOptions& options) {
  const ProgramResult run =
      run_program({options.python, options.reference.string(), "--stage", options.stage, "--preset",
                   options.preset, "--batch", fmt::format("{}", options.batch), "--seconds",
                   fmt::format("{}", options.seconds), "--precision", asked_for(options),
                   "--threads", fmt::format("{}", torch::get_num_threads())});
  const auto answer = nlohmann::json::parse(run.output, nullptr, false);
  if (!answer.is_object() || !answer.contains("pictures_per_second")) {
    throw RuntimeError("{} gave no figure: does {} have torch?", options.reference, options.python);
  }
  return answer["pictures_per_second"].get<double>();
}

// What a timed step has in it, here and in the PyTorch program.
std::string step_of(const std::string& stage) {
  const std::string after = "gradients, clipping and AdamW; pictures and tokens are given";
  if (stage == "tokenizer") return "encoder, codes, decoder, losses, " + after;
  if (stage == "predictor") return "masks, network, loss, " + after;
  return "masks, frozen predictor for z_t and z_{t+1}, VQ decoder for x_t, network, loss, " + after;
}

// Pictures per second of both, measured in turn.
struct Comparison {
  std::vector<double> ours, theirs;

  std::vector<double> ratios() const {
    std::vector<double> found;
    for (std::size_t i = 0; i < theirs.size(); ++i) found.push_back(ours[i] / theirs[i]);
    return found;
  }
};

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Rates are far below one at the published size.
std::string figure(double value) { return fmt::format("{:.{}f}", value, value < 10 ? 3 : 1); }

void print_comparison(const nlohmann::json& json) {
  print_stdout(fmt::format(
      "  PyTorch ({}): {} pictures/s, so {:.2f} times as many here ({:.2f} to {:.2f} in {} rounds)\n",
      json["precision"].get<std::string>(),
      figure(json["pytorch_pictures_per_second"].get<double>()), json["ratio"].get<double>(),
      json["lowest_ratio"].get<double>(), json["highest_ratio"].get<double>(),
      json["rounds"].get<std::int64_t>()));
}

}  // namespace

PictureCost measure_training(const BenchTrainOptions& options) {
  BenchTrainOptions watched = options;
  watched.profile = true;
  const ProfiledWork work = measure(watched, bf16_here(options.precision));
  PictureCost cost{work.seconds / static_cast<double>(work.pictures), 0};
  for (const OperationRow& row : work.rows) cost.flop += row.flop / double(work.pictures);
  return cost;
}

void run(const BenchTrainOptions& options, const RunContext& context) {
  use_machine(options.compute);
  const bool bf16 = bf16_here(options.precision);
  const std::string computed_in = bf16 ? "bf16" : "fp32";
  if (!options.python.empty() && !compute_device().is_cpu()) {
    throw UsageError("the PyTorch script measures the CPU: give --device cpu with --python");
  }
  Comparison rates;
  ProfiledWork work;
  for (std::int64_t round = 0; round < (options.python.empty() ? 1 : options.rounds); ++round) {
    work = measure(options, bf16);
    rates.ours.push_back(static_cast<double>(work.pictures) / work.seconds);
    if (!options.python.empty()) rates.theirs.push_back(reference_rate(options));
  }
  const double ours = middle(rates.ours),
               processor = work.processor_seconds / double(work.pictures);
  nlohmann::json json = {
      {"stage", options.stage},          {"step", step_of(options.stage)},
      {"precision", asked_for(options)}, {"computed_in", computed_in},
      {"pictures_per_second", ours},     {"processor_seconds_per_picture", processor}};
  if (const auto ratios = rates.ratios(); !ratios.empty()) {
    json["pytorch_pictures_per_second"] = middle(rates.theirs);
    json["ratio"] = middle(ratios);
    json["lowest_ratio"] = *std::min_element(ratios.begin(), ratios.end());
    json["highest_ratio"] = *std::max_element(ratios.begin(), ratios.end());
    json["rounds"] = options.rounds;
  }
  if (options.profile) json["profile"] = profile_json(work);
  if (context.json) {
    print_stdout(json_text(json, 2) + "\n");
    return;
  }
  print_stdout(fmt::format(
      "{} ({}, {}, batch {}): {} pictures/s, {} ms of processor time per picture\n  a step: {}\n",
      options.stage, options.preset, computed_in, options.batch, figure(ours),
      figure(1e3 * processor), step_of(options.stage)));
  if (json.contains("ratio")) print_comparison(json);
  if (options.profile) print_stdout(profile_text(work, measure_peak(bf16)));
}

}  // namespace addp
