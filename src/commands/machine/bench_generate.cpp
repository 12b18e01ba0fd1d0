#include "commands/machine/bench_generate.h"

#include <sys/resource.h>
#include <torch/cuda.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/interrupt.h"
#include "commands/machine/profile_report.h"
#include "generate/generator.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "model/init.h"
#include "model/whole/preset_configs.h"
#include "nn/kernel/frozen_weights.h"
#include "nn/layer/layers.h"
#include "nn/torch.h"

namespace addp {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  if (compute_device().is_cuda()) torch::cuda::synchronize(compute_device().index());
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Subject {
  std::shared_ptr<Addp> network;
  std::shared_ptr<Vqgan> tokenizer;
};

// Of the size that `addp distil` would give it.
void attach_bypass(const Subject& subject) {
  const AddpConfig& network = subject.network->config();
  const std::int64_t width = network.encoder.width();
  auto bypass = on_device(
      std::make_shared<Bypass>(BypassConfig{.code_width = subject.tokenizer->config().code_width,
                                            .width = usual_bypass_width(width),
                                            .skip = usual_bypass_skip(network.encoder.vit.depth),
                                            .encoder_width = width,
                                            .grid = network.grid}));
  initialise_bypass(*bypass, RandomStream(0, "bench"));
  subject.network->attach(std::move(bypass));
}

// Weights are held as `addp generate` holds them.
Subject subject_of(const BenchGenerateOptions& options, bool bf16) {
  if (!options.model.empty()) {
    const LoadedAddp loaded = load_addp(options.model, options.tokenizer);
    if (bf16) keep_weights_in_bf16(*loaded.network);
    if (bf16) keep_decoder_in_bf16(*loaded.tokenizer);
    loaded.tokenizer->forget_encoder();
    return {loaded.network, loaded.tokenizer};
  }
  const PresetConfigs configs = preset_configs(options.preset);
  Subject subject{on_device(std::make_shared<Addp>(configs.addp)), {}};
  initialise(*subject.network, RandomStream(0, "bench"));
  if (bf16) keep_weights_in_bf16(*subject.network);
  subject.tokenizer = on_device(std::make_shared<Vqgan>(configs.tokenizer));
  initialise_vqgan(*subject.tokenizer, RandomStream(0, "bench"));
  subject.tokenizer->forget_encoder();
  if (bf16) keep_decoder_in_bf16(*subject.tokenizer);
  if (options.sampler.fast && subject.network->vit() != nullptr) attach_bypass(subject);
  subject.network->eval();
  return subject;
}

struct Measured {
  std::int64_t pictures = 0;
  double seconds = 0;
  double products = 0, convolutions = 0;  // floating-point operations
  std::vector<OperationRow> rows;         // by kind of layer

  double seconds_a_picture() const { return seconds / static_cast<double>(pictures); }
  // How long the same products and convolutions would take at the peak, of the time they took.
  double share_of(const Peak& peak) const {
    return (products / peak.products + convolutions / peak.convolutions) / seconds;
  }
};

Grid grid_of(const Subject& subject, std::int64_t size) {
  const std::int64_t factor = subject.tokenizer->factor();
  if (size == 0) return subject.network->config().grid;
  if (size % factor != 0) {
    throw UsageError("--size {}: a token has {} pixels; give a multiple", size, factor);
  }
  return {size / factor, size / factor};
}

Measured measure(const Subject& subject, const BenchGenerateOptions& options) {
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(options.batch));
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto start = SamplerStart::nothing(options.batch, grid_of(subject, options.size));
  const SamplerHooks hooks{.on_step = {}, .cancelled = interrupt_requested};
  const FrozenWeights frozen(/*lend=*/true);  // as batches of one command have them
  const auto run = [&](const SamplerOptions& sampler) {
    StreamNoise noise(0, numbers);
    generate(*subject.network, *subject.tokenizer, start, sampler, noise, hooks);
  };
  SamplerOptions warm = options.sampler;
  warm.steps = std::min<std::int64_t>(2, warm.steps);
  run(warm);
  Measured measured;
  const OperationProfile profile;
  while (measured.seconds < options.seconds) {
    measured.seconds += seconds_of([&] { run(options.sampler); });
    measured.pictures += options.batch;
  }
  measured.products = profile.products();
  measured.convolutions = profile.convolutions();
  measured.rows = profile.rows();
  return measured;
}

double peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

}  // namespace

PictureCost measure_sampling(const BenchGenerateOptions& options) {
  const bool bf16 = bf16_here(options.precision);
  Bf16Scope scope(bf16);
  const Measured measured = measure(subject_of(options, bf16), options);
  return {measured.seconds_a_picture(),
          (measured.products + measured.convolutions) / static_cast<double>(measured.pictures)};
}

void run(const BenchGenerateOptions& options, const RunContext& context) {
  check(options.sampler);
  use_machine(options.compute);
  const bool bf16 = bf16_here(options.precision);
  const std::string precision = bf16 ? "bf16" : "fp32";
  Bf16Scope scope(bf16);
  const Subject subject = subject_of(options, bf16);
  const Peak peak = measure_peak(bf16);
  const Measured measured = measure(subject, options);
  const double memory = peak_memory_bytes();
  const double share = measured.share_of(peak);
  const ProfiledWork work{measured.rows, measured.seconds, measured.pictures};
  if (context.json) {
    nlohmann::json json = {{"preset", options.model.empty() ? options.preset : ""},
                           {"model", options.model.string()},
                           {"precision", precision},
                           {"steps", options.sampler.steps},
                           {"fast", options.sampler.fast},
                           {"batch", options.batch},
                           {"seconds_per_picture", measured.seconds_a_picture()},
                           {"pictures_per_second", 1 / measured.seconds_a_picture()},
                           {"share_of_peak", share},
                           {"product_gflop", measured.products / 1e9},
                           {"convolution_gflop", measured.convolutions / 1e9},
                           {"gemm_gflops", peak.products / 1e9},
                           {"convolution_gflops", peak.convolutions / 1e9},
                           {"peak_memory_bytes", memory}};
    if (options.profile) json["profile"] = profile_json(work);
    print_stdout(json.dump(2) + "\n");
    return;
  }
  print_stdout(fmt::format(
      "{} steps{}, batch {}, {}: {:.3f} s per picture ({:.3g} pictures/s), {:.0f}% of the machine's "
      "peak, {:.1f} GiB of the host's memory at most\n"
      "this machine: products {:.0f} GFLOP/s, 3x3 convolutions {:.0f} GFLOP/s\n",
      options.sampler.steps, options.sampler.fast ? " (fast)" : "", options.batch, precision,
      measured.seconds_a_picture(), 1 / measured.seconds_a_picture(), 100 * share,
      memory / (1 << 30), peak.products / 1e9, peak.convolutions / 1e9));
  if (options.profile) print_stdout(profile_text(work, peak));
}

}  // namespace addp
