#include "commands/serve/bench_serve.h"

#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/interrupt.h"
#include "generate/recipe.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "nn/torch.h"
#include "server/routes/service.h"

namespace addp {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Pictures per second of the sampler alone, in batches of `batch`, over `seconds`.
double sampler_rate(const Generator& generator, std::int64_t batch,
                    const BenchServeOptions& options, double seconds) {
  std::vector<PictureAsk> asks(static_cast<std::size_t>(batch));
  GenerationPlan plan;
  plan.sampler = options.sampler;
  plan.bf16 = generator.for_bf16();
  const auto make = [&](std::uint64_t seed) {
    for (std::size_t i = 0; i < asks.size(); ++i) asks[i].stream = {seed, i};
    generator.sample_asked(asks, plan);
  };
  make(0);
  const auto start = Clock::now();
  std::int64_t pictures = 0;
  for (std::uint64_t seed = 1; seconds_since(start) < seconds; ++seed) {
    throw_if_interrupted("nothing was kept");
    make(seed);
    pictures += batch;
  }
  return static_cast<double>(pictures) / seconds_since(start);
}

struct Load {
  std::vector<double> latencies;  // seconds, of the pictures that came within the time measured
  std::int64_t failures = 0;
  double seconds = 0;  // from the start until the last of them

  double rate() const { return seconds > 0 ? static_cast<double>(latencies.size()) / seconds : 0; }
  double quantile(double share) {
    if (latencies.empty()) return 0;
    const auto place = static_cast<std::size_t>(
        std::min(double(latencies.size() - 1), std::floor(share * double(latencies.size()))));
    std::nth_element(latencies.begin(), latencies.begin() + std::ptrdiff_t(place), latencies.end());
    return latencies[place];
  }
};

// Each client asks for one picture at a time, of a seed of its own. The time begins when every
// client has had an answer, so that all of them are in step with the queue.
Load measure(int port, std::int64_t clients, const BenchServeOptions& options) {
  json request = {{"count", 1}};
  for (const auto& [name, value] : sampler_settings(options.sampler)) request[name] = value;
  Load load;
  std::mutex mutex;
  std::atomic<bool> counting{false}, stop{false};
  std::atomic<std::int64_t> seed{0}, answered{0};
  Clock::time_point begin;  // of the counting; set before it
  const auto client = [&] {
    bool first = true;
    httplib::Client http("127.0.0.1", port);
    http.set_keep_alive(true);
    http.set_read_timeout(600);
    while (!stop) {
      json body = request;
      body["seed"] = seed++;
      const auto start = Clock::now();
      const auto answer = http.Post("/api/generate", body.dump(), "application/json");
      const double taken = seconds_since(start);
      if (first) ++answered;
      first = false;
      std::unique_lock lock(mutex);
      if (!answer || answer->status != 200) {
        ++load.failures;
      } else if (counting && !stop) {
        load.latencies.push_back(taken);
        load.seconds = seconds_since(begin);
      }
    }
  };
  std::vector<std::jthread> threads;
  try {
    for (std::int64_t i = 0; i < clients; ++i) threads.emplace_back(client);
  } catch (const std::system_error&) {
    stop = true;  // those that began end, and are waited for
    throw RuntimeError("no thread for client {} of {}: free some, or ask for fewer with --clients",
                       threads.size() + 1, clients);
  }
  const auto sleep_while = [](const auto& condition) {
    while (condition() && !interrupt_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  sleep_while([&] { return answered < clients; });
  begin = Clock::now();
  counting = true;
  sleep_while([&] { return seconds_since(begin) < options.seconds; });
  stop = true;
  threads.clear();
  throw_if_interrupted("nothing was kept");
  return load;
}

}  // namespace

void run(const BenchServeOptions& options, const RunContext& context) {
  check(options.sampler);
  use_machine(options.compute);
  ServiceOptions settings;
  settings.models = {options.model};
  settings.queue = {.batch = options.batch, .waiting = 4096};
  settings.bf16 = bf16_here(options.precision);
  settings.http.connections = 600;
  Service service(settings);
  const HostedModel& model = *service.shelf().models().front();
  if (!model.makes()) throw UsageError("{}: makes no pictures", options.model);
  service.start();
  json rows = json::array();
  std::string text;
  for (const std::int64_t clients : options.clients) {
    const std::int64_t batch = std::min(clients, options.batch);
    // Half of it before and half after, so that a machine that becomes slower does not count.
    const auto sampler = [&] {
      return sampler_rate(*model.generator, batch, options, options.seconds / 2);
    };
    const double before = sampler();
    Load load = measure(service.port(), clients, options);
    const double alone = (before + sampler()) / 2;
    rows.push_back({{"clients", clients},
                    {"batch", batch},
                    {"pictures_per_second", load.rate()},
                    {"sampler_pictures_per_second", alone},
                    {"share", load.rate() / alone},
                    {"latency_p50", load.quantile(0.5)},
                    {"latency_p99", load.quantile(0.99)},
                    {"failures", load.failures}});
    text += fmt::format(
        "{} clients: {:.4g} pictures/s, {:.0f}% of the sampler's {:.4g} at batch {}; latency {:.3f} "
        "s (p50), {:.3f} s (p99); {} failures\n",
        clients, load.rate(), 100 * load.rate() / alone, alone, batch, load.quantile(0.5),
        load.quantile(0.99), load.failures);
  }
  service.stop();
  print_stdout(context.json ? json{{"steps", options.sampler.steps}, {"loads", rows}}.dump(2) + "\n"
                            : text);
}

}  // namespace addp
