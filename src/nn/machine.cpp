#include "nn/machine.h"

#include <malloc.h>
#include <torch/cuda.h>

#include <limits>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

torch::Device chosen = torch::kCPU;

}  // namespace

torch::Device find_device(const std::string& name, int local_rank) {
  const auto count = static_cast<int>(torch::cuda::device_count());
  if (name == "cpu" || (name == "auto" && count == 0)) return torch::kCPU;
  int index = count > 0 ? local_rank % count : 0;
  if (name.starts_with("cuda:") && name.size() < 9 &&
      name.find_first_not_of("0123456789", 5) == std::string::npos && name.size() > 5) {
    index = std::stoi(name.substr(5));
  } else if (name != "cuda" && name != "auto") {
    throw UsageError("--device {}: say auto, cpu, cuda or cuda:N", name);
  }
  if (index >= count) {
    throw UsageError(
        "--device {}: libtorch sees {} CUDA devices here; choose another, or --device cpu", name,
        count);
  }
  return {torch::kCUDA, static_cast<torch::DeviceIndex>(index)};
}

void use_machine(const ComputeOptions& options, int local_rank) {
  chosen = find_device(options.device, local_rank);
  if (options.threads > 0) torch::set_num_threads(static_cast<int>(options.threads));
#ifdef __GLIBC__
  constexpr int kTopPad = 64 << 20;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, kTopPad);
#endif
}

torch::Device compute_device() { return chosen; }
void set_compute_device(torch::Device device) { chosen = device; }

}  // namespace addp
