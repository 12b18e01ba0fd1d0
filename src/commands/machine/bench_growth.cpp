#include "commands/machine/bench_growth.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/interrupt.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/run/subprocess.h"
#include "commands/machine/bench_generate.h"
#include "commands/machine/bench_images.h"
#include "commands/machine/bench_train.h"
#include "commands/machine/growth_plan.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "model/whole/preset_configs.h"
#include "nn/torch.h"

namespace addp {
namespace {

namespace fs = std::filesystem;

// Lines of one table: what was varied, and what a picture cost.
class GrowthTable {
 public:
  GrowthTable(const std::string& title, const std::string& varied)
      : text_(fmt::format("### {}\n\n| {} | ms per picture | GFLOP per picture | GFLOP/s | ms per "
                          "GFLOP, of the first line's |\n|---|---|---|---|---|\n",
                          title, varied)) {}

  void add(const std::string& value, const PictureCost& cost) {
    const double rate = cost.flop / cost.seconds;
    if (first_ == 0) first_ = rate;
    text_ += fmt::format("| {} | {:.4g} | {:.4g} | {:.0f} | {:.2f} |\n", value, 1e3 * cost.seconds,
                         cost.flop / 1e9, rate / 1e9, first_ / rate);
  }
  std::string text() const { return text_ + "\n"; }

 private:
  std::string text_;
  double first_ = 0;  // operations per second of the first line
};

class Growth {
 public:
  explicit Growth(const BenchGrowthOptions& options) : options_(options) {}

  std::string run() {
    std::string text = fmt::format(
        "Measured by `addp bench growth` with {} threads in {}. The last column is how the time per "
        "operation changes along a table: above 1, the cost grows faster than its arithmetic.\n\n",
        torch::get_num_threads(), bf16_here(options_.precision) ? "bf16" : "fp32");
    text += batches() + resolutions() + steps() + networks() + threads() + stages() + processes();
    text += workers();
    return text + plan();
  }

 private:
  BenchGenerateOptions sampling(const std::string& preset, std::int64_t batch, std::int64_t count) {
    BenchGenerateOptions options;
    options.preset = preset;
    options.batch = batch;
    options.precision = options_.precision;
    options.compute = options_.compute;
    options.seconds = options_.seconds;
    options.sampler.steps = count;
    return options;
  }

  static void look(const char* what) {
    throw_if_interrupted("nothing was written");
    note("measuring {}", what);
  }

  std::string batches() {
    look("batches");
    GrowthTable table("Batch (nano, 64x64, 8 steps)", "pictures at once");
    for (const std::int64_t batch : {1, 2, 4, 8, 16, 32, 64}) {
      table.add(fmt::format("{}", batch), measure_sampling(sampling("nano", batch, 8)));
    }
    return table.text();
  }

  std::string resolutions() {
    look("resolutions");
    GrowthTable table("Resolution (nano, one picture, 4 steps)", "pixels");
    for (const std::int64_t size : {64, 128, 256, 512}) {
      BenchGenerateOptions options = sampling("nano", 1, 4);
      options.size = size;
      table.add(fmt::format("{}x{}", size, size), measure_sampling(options));
    }
    return table.text();
  }

  std::string steps() {
    look("steps");
    GrowthTable table("Steps (nano, 64x64, 16 at once)", "steps");
    for (const std::int64_t count : {4, 8, 16, 32}) {
      table.add(fmt::format("{}", count), measure_sampling(sampling("nano", 16, count)));
    }
    BenchGenerateOptions fast = sampling("nano", 16, 32);
    fast.sampler.fast = true;
    table.add("32, fast", measure_sampling(fast));
    return table.text();
  }

  std::string networks() {
    look("networks");
    GrowthTable table("Network (256x256, one picture, 2 steps)", "preset");
    for (const char* preset : {"tiny", "small", "base", "large"}) {
      table.add(preset, measure_sampling(sampling(preset, 1, 2)));
    }
    return table.text();
  }

  std::string threads() {
    look("threads");
    GrowthTable table("Threads (nano, 64x64, 16 at once, 8 steps)", "threads");
    const int before = torch::get_num_threads();
    const auto most = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    for (int count = 1; count <= most; count *= 2) {
      torch::set_num_threads(count);
      table.add(fmt::format("{}", count), measure_sampling(sampling("nano", 16, 8)));
    }
    torch::set_num_threads(before);
    return table.text();
  }

  PictureCost training(const std::string& stage, const std::string& preset, std::int64_t batch) {
    BenchTrainOptions options;
    options.stage = stage;
    options.preset = preset;
    options.batch = batch;
    options.precision = options_.precision;
    options.seconds = options_.seconds;
    return measure_training(options);
  }

  std::string stages() {
    look("training");
    GrowthTable table("Training (nano, 64x64)", "stage, pictures per step");
    for (const char* stage : {"tokenizer", "predictor", "addp"}) {
      for (const std::int64_t batch : {16, 64}) {
        table.add(fmt::format("{}, {}", stage, batch), training(stage, "nano", batch));
      }
    }
    return table.text();
  }

  // Pictures per second of a whole run of this program.
  double run_rate(std::int64_t count, const fs::path& out) {
    const fs::path log = out / fmt::format("{}", count) / "log.jsonl";
    const auto text = [](std::int64_t n) { return fmt::format("{}", n); };
    const ProgramResult run = run_program({fs::read_symlink("/proc/self/exe").string(),
                                           "train",
                                           "classifier",
                                           "--data",
                                           "shapes:size=64,count=512,val=8",
                                           "--size",
                                           "64",
                                           "--preset",
                                           "nano",
                                           "--patch",
                                           "8",
                                           "--batch-size",
                                           text(32 * count),
                                           "--steps",
                                           "24",
                                           "--lr",
                                           "1e-4",
                                           "--processes",
                                           text(count),
                                           "--threads",
                                           text(count),
                                           "--workers",
                                           "1",
                                           "--log-every",
                                           "24",
                                           "--picture-every",
                                           "0",
                                           "-q",
                                           "--out",
                                           log.parent_path().string()});
    if (run.code != 0) throw RuntimeError("a training run of {} processes failed", count);
    const std::string lines = read_text_file(log);
    const auto line = nlohmann::json::parse(lines.substr(0, lines.find('\n')), nullptr, false);
    if (!line.is_object() || !line.contains("pictures_per_second")) {
      throw RuntimeError("{}: has no rate in its first line", log);
    }
    return line["pictures_per_second"].get<double>();
  }

  std::string processes() {
    look("processes");
    const fs::path out = fs::temp_directory_path() / fmt::format("addp-growth-{}", ::getpid());
    std::string table =
        "### Processes (a classifier of nano size, one thread and 32 pictures each)\n\n"
        "| processes | pictures/s | of the first line's, per process |\n|---|---|---|\n";
    double first = 0;
    for (const std::int64_t count : {1, 2}) {
      const double rate = run_rate(count, out);
      if (count == 1) first = rate;
      table += fmt::format("| {} | {:.1f} | {:.2f} |\n", count, rate,
                           rate / static_cast<double>(count) / first);
    }
    std::error_code ignored;
    fs::remove_all(out, ignored);
    return table + "\n";
  }

  std::string workers() {
    look("the loader");
    std::string table =
        "### Loader (JPEG of 400x300: decode, crop, resize to 224, flip)\n\n"
        "| workers | pictures/s |\n|---|---|\n";
    const auto most =
        static_cast<std::int64_t>(2 * std::max(1u, std::thread::hardware_concurrency()));
    for (std::int64_t count = 1; count <= most; count *= 2) {
      BenchImagesOptions options;
      options.threads = count;
      options.seconds = options_.seconds;
      const double rate = bench_images(options).pictures_per_second;
      if (count == 1) loader_rate_ = rate;
      table += fmt::format("| {} | {:.0f} |\n", count, rate);
    }
    return table + "\n";
  }

  std::string plan() {
    look("a training step of the published size");
    const PresetConfigs configs = preset_configs("base", /*class_ids=*/1000);
    const auto parameters = static_cast<double>(parameter_count(Addp(configs.addp)));
    return plan_markdown({.flop_per_picture = training("addp", "base", 1).flop,
                          .parameters = parameters,
                          .loader_per_worker = loader_rate_,
                          .gpu_flops = 1e12 * options_.gpu_tflops * options_.gpu_share,
                          .node_bytes = 1e9 * options_.node_gigabytes,
                          .network_bytes = 1e9 * options_.network_gigabytes});
  }

  BenchGrowthOptions options_;
  double loader_rate_ = 0;
};

// The file with the part between the two marks replaced.
std::string with_growth(const fs::path& file, const std::string& growth) {
  const std::string text = read_text_file(file), begin = "<!-- growth -->\n", end = "<!-- end -->";
  const std::size_t first = text.find(begin), last = text.find(end, first);
  if (first == std::string::npos || last == std::string::npos) {
    throw DataError("{}: has no lines '<!-- growth -->' and '<!-- end -->' to write between", file);
  }
  return text.substr(0, first + begin.size()) + "\n" + growth + "\n" + text.substr(last);
}

}  // namespace

void run(const BenchGrowthOptions& options, const RunContext& context) {
  if (!options.into.empty()) with_growth(options.into, "");  // refused before anything is measured
  use_machine(options.compute);
  const std::string text = Growth(options).run();
  if (!options.into.empty()) {
    write_file_atomically(options.into, with_growth(options.into, text));
  }
  if (context.json) {
    print_stdout(json_text(nlohmann::json{{"markdown", text}}, 2) + "\n");
  } else {
    print_stdout(options.into.empty() ? text : fmt::format("{}\n", options.into));
  }
}

}  // namespace addp
