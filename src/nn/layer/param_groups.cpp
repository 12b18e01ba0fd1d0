#include "nn/layer/param_groups.h"

#include <charconv>
#include <cmath>
#include <map>

#include "nn/torch.h"

namespace addp {
namespace {

// "blocks.7.mlp.fc1.weight" -> 8; what stands before the blocks 0; what follows them last.
std::int64_t layer_of(const std::string& name, std::int64_t last) {
  if (name == "cls_token" || name == "pos_embed" || name.starts_with("patch_embed.") ||
      name.starts_with("token_emb.")) {
    return 0;
  }
  constexpr std::string_view kBlocks = "blocks.";
  if (!name.starts_with(kBlocks)) return last;
  std::int64_t index = 0;
  std::from_chars(name.data() + kBlocks.size(), name.data() + name.size(), index);
  return index + 1;
}

}  // namespace

std::vector<ParamGroup> decay_groups(const torch::nn::Module& network, double weight_decay) {
  ParamGroup plain, decayed;
  decayed.weight_decay = weight_decay;
  for (const auto& item : network.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    ParamGroup& group = item.value().dim() >= 2 ? decayed : plain;
    group.names.push_back(item.key());
    group.parameters.push_back(item.value());
  }
  return {plain, decayed};
}

std::vector<ParamGroup> layer_decay_groups(
    const torch::nn::Module& network, std::int64_t depth, double decay, double weight_decay,
    const std::function<std::string(const std::string&)>& checkpoint_name) {
  const std::int64_t last = depth + 1;
  std::map<std::pair<std::int64_t, bool>, ParamGroup> groups;
  for (const auto& item : network.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    const std::string name = checkpoint_name(item.key());
    const bool decays = item.value().dim() >= 2 && name != "cls_token" && name != "pos_embed";
    const std::int64_t layer = layer_of(name, last);
    ParamGroup& group = groups[{layer, decays}];
    group.lr_scale = std::pow(decay, static_cast<double>(last - layer));
    group.weight_decay = decays ? weight_decay : 0;
    group.names.push_back(name);
    group.parameters.push_back(item.value());
  }
  std::vector<ParamGroup> ordered;
  for (auto& [key, group] : groups) ordered.push_back(std::move(group));
  return ordered;
}

}  // namespace addp
