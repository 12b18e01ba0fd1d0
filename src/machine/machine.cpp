#include "machine/machine.h"

#include <malloc.h>
#include <torch/cuda.h>

#include <charconv>
#include <limits>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

torch::Device chosen = torch::kCPU;

// The N of "cuda:N".
bool read_index(std::string_view name, int& index) {
  constexpr std::string_view kPrefix = "cuda:";
  if (!name.starts_with(kPrefix)) return false;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, index);
  return error == std::errc() && stop == end && index >= 0;
}

}  // namespace

torch::Device find_device(const std::string& name, int local_rank) {
  const int count = static_cast<unsigned char>(torch::cuda::device_count());  // never negative
  if (name == "cpu" || (name == "auto" && count == 0)) return torch::kCPU;
  int index = local_rank;
  const bool named = name != "auto" && name != "cuda";
  if (named && !read_index(name, index)) {
    throw UsageError("--device {}: say auto, cpu, cuda or cuda:N", name);
  }
  if (named && local_rank > 0) {
    throw UsageError("--device {}: several processes need a device each; say cuda, or cpu", name);
  }
  if (index >= count) {
    throw UsageError(
        "--device {}: libtorch sees {} CUDA devices here, and this process wants number {}; choose "
        "another, start fewer processes, or say --device cpu",
        name, count, index);
  }
  return {torch::kCUDA, static_cast<torch::DeviceIndex>(index)};
}

void use_machine(const ComputeOptions& options, int local_rank) {
  chosen = find_device(options.device, local_rank);
  at::globalContext().setAllowTF32CuDNN(false);  // float32 is to mean float32
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
