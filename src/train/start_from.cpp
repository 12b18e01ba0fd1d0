#include "train/start_from.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {

void start_from(torch::nn::Module& network, const torch::nn::Module& trained,
                const std::string& source) {
  torch::NoGradGuard guard;
  const auto weights = trained.named_parameters(), statistics = trained.named_buffers();
  auto needed = network.named_parameters();
  needed.update(network.named_buffers());
  for (const auto& item : needed) {
    const Tensor* found = weights.find(item.key());
    if (!found) found = statistics.find(item.key());
    if (!found || found->sizes() != item.value().sizes()) {
      throw UsageError(
          "{}: cannot start from it: its '{}' is {}, this training needs {}; take its --preset, "
          "sizes, tokenizer and classes",
          source, item.key(), found ? fmt::format("{}", fmt::join(found->sizes(), "x")) : "missing",
          fmt::join(item.value().sizes(), "x"));
    }
    item.value().copy_(*found);
  }
}

}  // namespace addp
