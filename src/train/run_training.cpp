#include "train/run_training.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/file/folder.h"
#include "base/json_text.h"
#include "base/log.h"
#include "machine/machine.h"
#include "nn/torch.h"
#include "processes/launch.h"

namespace addp {
namespace {

void print_result(const TrainOptions& options, const RunContext& context, const Metrics& metrics) {
  const auto model = options.out / "model.safetensors";
  if (context.json) {
    nlohmann::json result = {{"model", model.string()},
                             {"page", (options.out / "index.html").string()}};
    for (const auto& [name, value] : metrics) result["eval"][name] = value;
    print_stdout(json_text(result, 2) + "\n");
    return;
  }
  for (const auto& [name, value] : metrics) print_stdout(fmt::format("{}: {:.5g}\n", name, value));
  print_stdout(fmt::format("model: {}\npage: {}\n", model, options.out / "index.html"));
}

void require_whole_parts(const TrainOptions& options, std::int64_t processes) {
  if (options.batch_size % (options.accumulate * processes) == 0) return;
  throw UsageError("--batch-size {} cannot be divided by {} processes times --accumulate {}",
                   options.batch_size, processes, options.accumulate);
}

}  // namespace

void run_training(const TrainOptions& options, const RunContext& context, const MakeStage& make) {
  require_whole_parts(options, options.processes);
  if (is_launcher(static_cast<int>(options.processes))) {
    LaunchOptions launch;
    launch.processes = static_cast<int>(options.processes);
    launch.threads = static_cast<int>(options.compute.threads);
    const int code = run_processes(launch);
    if (code != 0) {
      throw Error(
          static_cast<ExitCode>(code),
          fmt::format("a process of the run ended with exit code {}; its message stands above",
                      code));
    }
    return;
  }
  const WorldOptions place = world_from_environment();
  // Several processes share the threads out among them; their launcher has said so already.
  ComputeOptions compute = options.compute;
  if (place.size > 1) compute.threads = 0;
  use_machine(compute, place.local_rank);
  quiet_other_ranks(place);
  World world(place, compute_device());
  require_whole_parts(options, world.size());
  std::optional<FolderLock> lock;
  if (world.is_main()) {
    make_folder(options.out);
    lock.emplace(options.out);
  }
  const std::unique_ptr<Stage> stage = make(world);
  const Metrics metrics = train(*stage, options, world, context);
  if (world.is_main()) print_result(options, context, metrics);
}

}  // namespace addp
