#include "predictor/mage_training.h"

#include <algorithm>
#include <cmath>

#include "nn/kernel/cross_entropy.h"
#include "nn/layer/rows.h"
#include "nn/torch.h"

namespace addp {

MageMask sample_mage_mask(std::int64_t batch, std::int64_t length, const MageMaskOptions& options,
                          const RandomStream& stream, std::int64_t first) {
  const double ratio = stream.fork("ratio").truncated_normal(options.mean, options.deviation,
                                                             options.lowest, options.highest);
  const auto count = [&](double share) {
    return std::clamp<std::int64_t>(std::llround(std::ceil(share * static_cast<double>(length))), 1,
                                    length);
  };
  const std::int64_t masked = count(ratio);
  const std::int64_t dropped = std::min(count(options.lowest), masked);
  MageMask mask;
  mask.masked = torch::zeros({batch, length}, torch::kBool);
  mask.kept = torch::zeros({batch, 1 + length - dropped}, torch::kInt64);
  auto flags = mask.masked.accessor<bool, 2>();
  auto kept = mask.kept.accessor<std::int64_t, 2>();
  for (std::int64_t sample = 0; sample < batch; ++sample) {
    const auto order =
        stream.fork("positions", static_cast<std::uint64_t>(first + sample)).permutation(length);
    for (std::int64_t i = 0; i < masked; ++i)
      flags[sample][order[static_cast<std::size_t>(i)]] = true;
    std::vector<std::int64_t> rest(order.begin() + dropped, order.end());
    std::sort(rest.begin(), rest.end());
    for (std::size_t i = 0; i < rest.size(); ++i) {
      kept[sample][static_cast<std::int64_t>(i) + 1] = rest[i] + 1;
    }
  }
  return mask;
}

Tensor mage_loss(const Mage& mage, const Tensor& tokens, const MageMask& mask, const Grid& grid,
                 double label_smoothing, DropoutKeys* keys, const Tensor& classes) {
  const Tensor masked = positions_of(mask.masked);  // [B, M]
  const Tensor features =
      mage.features(tokens, mask.masked, grid, keys, mask.kept, classes, masked);
  return smoothed_cross_entropy(mage.logits(features.flatten(0, 1)),
                                {.labels = tokens.gather(1, masked).flatten()}, label_smoothing);
}

}  // namespace addp
