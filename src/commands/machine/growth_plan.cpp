#include "commands/machine/growth_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace addp {
namespace {

constexpr std::int64_t kBatch = 4096, kNode = 8;
constexpr double kPictures = 1281167, kEpochs = 1600, kSecondsPerDay = 86400;

}  // namespace

PlanRow plan_for(std::int64_t gpus, const PlanInputs& inputs) {
  PlanRow row;
  row.gpus = gpus;
  row.pictures_per_gpu = kBatch / gpus;
  row.compute_seconds =
      static_cast<double>(row.pictures_per_gpu) * inputs.flop_per_picture / inputs.gpu_flops;
  const double n = static_cast<double>(gpus);
  const double bytes = 2 * (n - 1) / n * 4 * inputs.parameters;
  // A ring has one link between any two nodes next to each other.
  const double link = gpus > kNode ? inputs.network_bytes : inputs.node_bytes;
  row.exchange_seconds = gpus > 1 ? bytes / link : 0;
  // The exchange of one layer goes on while the next is computed: the longer of both counts.
  const double step = std::max(row.compute_seconds, row.exchange_seconds);
  row.days = step * kPictures * kEpochs / static_cast<double>(kBatch) / kSecondsPerDay;
  row.loader_workers_per_gpu =
      static_cast<double>(row.pictures_per_gpu) / step / inputs.loader_per_worker;
  return row;
}

std::string plan_markdown(const PlanInputs& inputs) {
  std::string text = fmt::format(
      "### On paper: ViT-B on 8 and 64 GPUs\n\n"
      "Counted here: {:.0f} GFLOP per picture of a training step, {:.0f} million parameters whose "
      "gradients are exchanged; measured here: {:.0f} pictures per second and loader's worker. Assumed: "
      "{:.0f} TFLOP/s reached per GPU, {:.0f} GB/s between the GPUs of a node, {:.0f} GB/s between nodes. "
      "Batch 4096, 1600 epochs of ImageNet; the exchange goes on beside the computation, so that the "
      "longer of both counts. Nothing of this was measured on GPUs.\n\n"
      "| GPUs | pictures per GPU | computation, s | exchange, s | days | loader's workers per GPU |\n"
      "|---|---|---|---|---|---|\n",
      inputs.flop_per_picture / 1e9, inputs.parameters / 1e6, inputs.loader_per_worker,
      inputs.gpu_flops / 1e12, inputs.node_bytes / 1e9, inputs.network_bytes / 1e9);
  for (const std::int64_t gpus : {1, 8, 64}) {
    const PlanRow row = plan_for(gpus, inputs);
    text += fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.1f} | {:.1f} |\n", row.gpus,
                        row.pictures_per_gpu, row.compute_seconds, row.exchange_seconds, row.days,
                        row.loader_workers_per_gpu);
  }
  return text;
}

}  // namespace addp
