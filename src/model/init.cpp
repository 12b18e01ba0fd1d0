#include "model/init.h"

#include <cmath>
#include <span>
#include <string_view>

#include "nn/torch.h"

namespace addp {
namespace {

constexpr double kTokenDeviation = 0.02;

template <class Draw>
void fill(const Tensor& out, Draw draw) {
  torch::NoGradGuard no_grad;
  const Tensor values = torch::empty(out.sizes(), torch::kFloat32);
  const std::span<float> elements(values.data_ptr<float>(),
                                  static_cast<std::size_t>(values.numel()));
  for (float& value : elements) value = static_cast<float>(draw());
  out.copy_(values);
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The name of the layer that owns a parameter: "norm1" of "blocks.0.norm1.weight".
std::string_view owner_of(std::string_view name) {
  const auto last = name.rfind('.');
  if (last == std::string_view::npos) return {};
  const std::string_view path = name.substr(0, last);
  const auto before = path.rfind('.');
  return before == std::string_view::npos ? path : path.substr(before + 1);
}

void fill_weight(const std::string& name, const Tensor& weight, const RandomStream& stream) {
  const std::int64_t outputs = weight.size(0), inputs = weight.numel() / outputs;
  const std::string_view owner = owner_of(name);
  if (owner.find("emb") != std::string_view::npos && !ends_with(owner, "decoder_embed") &&
      weight.dim() == 2) {
    fill_truncated_normal(weight, kTokenDeviation, stream);
  } else if (weight.dim() == 2 || name.find("patch_embed") != std::string::npos) {
    const double bound = std::sqrt(6.0 / static_cast<double>(inputs + outputs));
    fill_uniform(weight, -bound, bound, stream);
  } else {
    fill_normal(weight, std::sqrt(2.0 / static_cast<double>(inputs)), stream);
  }
}

}  // namespace

void fill_normal(const Tensor& out, double deviation, RandomStream stream) {
  fill(out, [&] { return deviation * stream.normal(); });
}

void fill_truncated_normal(const Tensor& out, double deviation, RandomStream stream) {
  fill(out, [&] { return deviation * stream.truncated_normal(0, 1, -2, 2); });
}

void fill_uniform(const Tensor& out, double low, double high, RandomStream stream) {
  fill(out, [&] { return stream.uniform(low, high); });
}

void initialise(torch::nn::Module& network, const RandomStream& stream) {
  torch::NoGradGuard no_grad;
  for (const auto& item : network.named_parameters()) {
    const std::string& name = item.key();
    const Tensor& parameter = item.value();
    if (ends_with(name, "bias")) {
      parameter.zero_();
    } else if (parameter.dim() == 1) {
      parameter.fill_(1);
    } else if (ends_with(name, ".weight")) {
      fill_weight(name, parameter, stream.fork(name));
    } else {
      fill_truncated_normal(parameter, kTokenDeviation, stream.fork(name));
    }
  }
}

}  // namespace addp
