#include "commands/machine/profile_report.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <chrono>
#include <functional>

#include "machine/machine.h"
#include "nn/torch.h"
#include "nn/types.h"
#include "report/table.h"

namespace addp {
namespace {

// The best of a few tries.
double rate_of(double operations, const std::function<void()>& work) {
  using Steady = std::chrono::steady_clock;
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const auto start = Steady::now();
    work();
    if (compute_device().is_cuda()) torch::cuda::synchronize(compute_device().index());
    best =
        std::max(best, operations / std::chrono::duration<double>(Steady::now() - start).count());
  }
  return best;
}

bool is_convolution(const std::string& kind) { return kind.starts_with("convolution"); }

// What the operations leave of the time.
OperationRow remainder(const ProfiledWork& work) {
  OperationRow rest{.kind = "between operations", .seconds = work.seconds};
  for (const OperationRow& row : work.rows) rest.seconds -= row.seconds;
  return rest;
}

}  // namespace

Peak measure_peak(bool bf16) {
  constexpr std::int64_t kSide = 1024, kMap = 32, kChannels = 64, kBatch = 16;
  torch::NoGradGuard guard;
  const auto numbers = [bf16](at::IntArrayRef shape) {
    return torch::randn(shape).to(compute_device(), bf16 ? torch::kBFloat16 : torch::kFloat32);
  };
  const auto last = at::MemoryFormat::ChannelsLast;
  const Tensor a = numbers({kSide, kSide}), b = numbers({kSide, kSide});
  const Tensor x = numbers({kBatch, kChannels, kMap, kMap}).contiguous(last);
  const Tensor w = numbers({kChannels, kChannels, 3, 3}).contiguous(last);
  return {rate_of(2.0 * kSide * kSide * kSide, [&] { a.matmul(b); }),
          rate_of(2.0 * kBatch * kMap * kMap * kChannels * kChannels * 9,
                  [&] { at::conv2d(x, w, {}, 1, 1); })};
}

std::string profile_text(const ProfiledWork& work, const Peak& peak) {
  Table table{.title = "per picture, by kind of layer",
              .header = {"kind", "calls", "ms", "share", "GFLOP", "of peak", "MB"},
              .rows = {}};
  auto rows = work.rows;
  rows.push_back(remainder(work));
  const auto pictures = static_cast<double>(work.pictures);
  for (const OperationRow& row : rows) {
    const double share = row.seconds / work.seconds;
    if (share < 0.002) continue;
    const double rate = is_convolution(row.kind) ? peak.convolutions : peak.products;
    table.rows.push_back(
        {row.kind, fmt::format("{:.1f}", static_cast<double>(row.calls) / pictures),
         fmt::format("{:.3f}", 1e3 * row.seconds / pictures), fmt::format("{:.1f}%", 100 * share),
         row.flop > 0 ? fmt::format("{:.3f}", row.flop / pictures / 1e9) : "",
         row.flop > 0 ? fmt::format("{:.0f}%", 100 * row.flop / row.seconds / rate) : "",
         fmt::format("{:.2f}", row.bytes / pictures / 1e6)});
  }
  return table.to_text();
}

nlohmann::json profile_json(const ProfiledWork& work) {
  auto rows = work.rows;
  rows.push_back(remainder(work));
  const auto pictures = static_cast<double>(work.pictures);
  nlohmann::json json = nlohmann::json::array();
  for (const OperationRow& row : rows) {
    json.push_back({{"kind", row.kind},
                    {"calls", static_cast<double>(row.calls) / pictures},
                    {"seconds", row.seconds / pictures},
                    {"gflop", row.flop / pictures / 1e9},
                    {"bytes", row.bytes / pictures}});
  }
  return json;
}

}  // namespace addp
