#include "commands/bench_generate.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/interrupt.h"
#include "diffusion/model_io.h"
#include "generate/generator.h"
#include "nn/init.h"
#include "nn/machine.h"
#include "nn/presets.h"
#include "nn/torch.h"

namespace addp {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Floating-point operations a second of a large matrix product: the machine's own peak.
double product_rate() {
  constexpr std::int64_t kSide = 1024;
  const Tensor a = torch::randn({kSide, kSide}), b = torch::randn({kSide, kSide});
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    best = std::max(best, 2.0 * kSide * kSide * kSide / seconds_of([&] { a.matmul(b); }));
  }
  return best;
}

// The same of a 3x3 convolution, channels last.
double convolution_rate() {
  constexpr std::int64_t kSide = 32, kChannels = 64, kBatch = 16;
  const Tensor x =
      torch::randn({kBatch, kChannels, kSide, kSide}).contiguous(torch::MemoryFormat::ChannelsLast);
  const Tensor w =
      torch::randn({kChannels, kChannels, 3, 3}).contiguous(torch::MemoryFormat::ChannelsLast);
  const double work = 2.0 * kBatch * kSide * kSide * kChannels * kChannels * 9;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    best = std::max(best, work / seconds_of([&] { at::conv2d(x, w, {}, 1, 1); }));
  }
  return best;
}

struct Subject {
  std::shared_ptr<Addp> network;
  std::shared_ptr<Vqgan> tokenizer;
};

Subject subject_of(const BenchGenerateOptions& options) {
  if (!options.model.empty()) {
    const LoadedAddp loaded = load_addp(options.model);
    return {loaded.network, loaded.tokenizer};
  }
  const bool light = companion_size(options.preset).name == "nano";
  const VqganConfig config = vqgan_preset(light ? "light-8" : "published");
  const Grid grid = light ? Grid{8, 8} : Grid{16, 16};
  Subject subject;
  subject.tokenizer = std::make_shared<Vqgan>(config);
  initialise_vqgan(*subject.tokenizer, RandomStream(0, "bench"));
  subject.network =
      std::make_shared<Addp>(addp_preset(options.preset, {config.codes, 1}, grid, config.factor()));
  initialise(*subject.network, RandomStream(0, "bench"));
  return subject;
}

struct Rates {
  std::int64_t pictures = 0;
  double seconds = 0, decoding = 0;  // of it in the VQ decoder, measured by itself
};

Rates measure(const Subject& subject, const BenchGenerateOptions& options) {
  const Grid grid = subject.network->config().grid;
  std::vector<std::uint64_t> numbers(static_cast<std::size_t>(options.batch));
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto run = [&] {
    StreamNoise noise(0, numbers);
    generate(*subject.network, *subject.tokenizer, SamplerStart::nothing(options.batch, grid),
             options.sampler, noise, {.on_step = {}, .cancelled = interrupt_requested});
  };
  run();  // warm
  Rates rates;
  while (rates.seconds < options.seconds) {
    rates.seconds += seconds_of(run);
    rates.pictures += options.batch;
  }
  torch::NoGradGuard guard;
  const Tensor ids = torch::zeros({options.batch, grid.area()}, torch::kInt64);
  const double once = seconds_of([&] { subject.tokenizer->decode_ids(ids, grid); });
  rates.decoding = once * static_cast<double>(options.sampler.steps) *
                   static_cast<double>(rates.pictures / options.batch);
  return rates;
}

}  // namespace

void run_bench_generate(const BenchGenerateOptions& options, const RunContext& context) {
  check(options.sampler);
  use_machine(options.threads);
  const Subject subject = subject_of(options);
  const double products = product_rate(), convolutions = convolution_rate();
  const Rates rates = measure(subject, options);
  const double per_second = static_cast<double>(rates.pictures) / rates.seconds;
  const double steps = per_second * static_cast<double>(options.sampler.steps);
  const double share = rates.decoding / rates.seconds;
  if (context.json) {
    print_stdout(nlohmann::json{{"pictures_per_second", per_second},
                                {"picture_steps_per_second", steps},
                                {"vq_decoder_share", share},
                                {"gemm_gflops", products / 1e9},
                                {"convolution_gflops", convolutions / 1e9}}
                     .dump(2) +
                 "\n");
    return;
  }
  print_stdout(fmt::format(
      "{} steps, batch {}: {:.2f} pictures/s ({:.1f} picture steps/s), {:.0f}% of it in the VQ "
      "decoder\nthis machine: products {:.0f} GFLOP/s, 3x3 convolutions {:.0f} GFLOP/s\n",
      options.sampler.steps, options.batch, per_second, steps, 100 * share, products / 1e9,
      convolutions / 1e9));
}

}  // namespace addp
