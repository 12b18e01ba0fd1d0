// What a training run of the paper's size would take on several GPUs, from bytes and operations
// that were counted here. No more than arithmetic: nothing of it was measured on a GPU.
#pragma once

#include <cstdint>
#include <string>

namespace addp {

struct PlanInputs {
  double flop_per_picture = 0;               // of a training step, counted
  double parameters = 0;                     // that gradients are exchanged of
  double loader_per_worker = 0;              // pictures per second of one worker, measured
  double gpu_flops = 0;                      // that training reaches on one GPU, assumed
  double node_bytes = 0, network_bytes = 0;  // per second, assumed
};

struct PlanRow {
  std::int64_t gpus = 0, pictures_per_gpu = 0;
  double compute_seconds = 0, exchange_seconds = 0;  // of a step
  double days = 0;                                   // of the paper's recipe
  double loader_workers_per_gpu = 0;                 // that keep it busy
};

// GPUs in nodes of eight; batch 4096, 1600 epochs of 1,281,167 pictures. Gradients are exchanged as
// float32 in a ring: 2 (n - 1)/n of their bytes over the slowest link, which is shared by the
// GPUs of a node.
PlanRow plan_for(std::int64_t gpus, const PlanInputs& inputs);
std::string plan_markdown(const PlanInputs& inputs);

}  // namespace addp
