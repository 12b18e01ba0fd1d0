#include "stages/generative/texture_distance.h"

#include "model/init.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr std::int64_t kDirections = 32;
constexpr std::int64_t kPositions = 8192;  // of a layer: more would only take longer to sort

// [B, C, h, w] -> [N, C], at most kPositions of them; the same ones for every map of one size.
Tensor positions(const Tensor& map, const RandomStream& stream) {
  const Tensor rows = map.permute({0, 2, 3, 1}).flatten(0, 2).to(torch::kFloat32);
  if (rows.size(0) <= kPositions) return rows;
  const Tensor noise = torch::empty({rows.size(0)});
  fill_uniform(noise, 0, 1, stream.fork("positions"));
  const Tensor chosen = std::get<1>(noise.topk(kPositions));
  return rows.index_select(0, chosen.to(rows.device()));
}

Tensor layer_distance(const Tensor& real, const Tensor& made, const RandomStream& stream) {
  const Tensor a = positions(real.detach(), stream), b = positions(made, stream);
  // A channel that real pictures hardly ever use would count without bounds.
  Tensor deviation = a.std(0);
  deviation = deviation + 0.3 * deviation.mean() + 1e-6;
  Tensor directions = torch::empty({a.size(1), kDirections});
  fill_normal(directions, 1, stream.fork("directions"));
  directions = directions.to(a.device());
  directions = directions / (directions.norm(2, {0}, true) * deviation.unsqueeze(1));
  const Tensor expected = std::get<0>(a.mm(directions).sort(0));
  const Tensor found = std::get<0>(b.mm(directions).sort(0));
  return (found - expected).square().mean();
}

}  // namespace

Tensor texture_distance(const Lpips::Features& real, const Lpips::Features& made,
                        const RandomStream& stream) {
  const c10::impl::ExcludeDispatchKeyGuard full_precision(c10::autocast_dispatch_keyset);
  Tensor sum;
  for (std::size_t i = 0; i < real.size(); ++i) {
    const Tensor one = layer_distance(real[i], made[i], stream.fork("layer", i));
    sum = sum.defined() ? sum + one : one;
  }
  return sum / static_cast<double>(real.size());
}

}  // namespace addp
