#include "train/run_training.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
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
    print_stdout(result.dump(2) + "\n");
    return;
  }
  for (const auto& [name, value] : metrics) print_stdout(fmt::format("{}: {:.5g}\n", name, value));
  print_stdout(fmt::format("model: {}\npage: {}\n", model, options.out / "index.html"));
}

}  // namespace

void run_training(const TrainOptions& options, const RunContext& context, const MakeStage& make) {
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
  if (options.batch_size % (options.accumulate * world.size()) != 0) {
    throw UsageError("--batch-size {} cannot be divided by {} processes times --accumulate {}",
                     options.batch_size, world.size(), options.accumulate);
  }
  const std::unique_ptr<Stage> stage = make(world);
  const Metrics metrics = train(*stage, options, world, context);
  if (world.is_main()) print_result(options, context, metrics);
}

}  // namespace addp
