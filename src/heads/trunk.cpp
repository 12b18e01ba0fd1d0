#include "heads/trunk.h"

#include "base/error.h"
#include "heads/classifier.h"
#include "nn/init.h"
#include "nn/load.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr const char* kRelative = "relative";

// "trunk.vit.blocks.3.x" -> "blocks.3.x", "trunk.relative.3.rows" -> "blocks.3.relative.rows".
std::string decay_name(const std::string& name) {
  constexpr std::string_view kVit = "trunk.vit.", kTables = "trunk.relative.";
  if (name.starts_with(kVit)) return name.substr(kVit.size());
  if (!name.starts_with(kTables)) return name;
  const auto dot = name.find('.', kTables.size());
  return fmt::format("blocks.{}.relative{}", name.substr(kTables.size(), dot - kTables.size()),
                     name.substr(dot));
}

}  // namespace

EncoderConfig dense_encoder(EncoderConfig encoder, const Grid& grid, double drop_path) {
  encoder = classifier_config(encoder, grid, 1).backbone.encoder;
  encoder.vit.drop_path = drop_path;
  return encoder;
}

std::array<std::int64_t, 4> tapped_blocks(std::int64_t depth) {
  const auto at = [](std::int64_t index) { return std::max<std::int64_t>(index - 1, 0); };
  return {at(depth / 3), at(depth / 2), at(2 * depth / 3), depth - 1};
}

bool attends_globally(std::int64_t block, std::int64_t depth) {
  return 4 * (block + 1) / depth != 4 * block / depth;
}

Trunk::Trunk(const TrunkConfig& config) : config_(config) {
  if (config.encoder.kind == EncoderKind::kResNet) {
    config_.encoder.resnet.trunk.classes = 0;
    resnet_ = register_module("resnet", std::make_shared<ResNet>(config_.encoder.resnet.trunk));
    return;
  }
  const VitConfig& vit = config.encoder.vit;
  vit_ = register_module("vit", std::make_shared<Vit>(vit));
  if (!config.relative_positions) return;
  const auto list = register_module(kRelative, std::make_shared<torch::nn::Module>());
  for (std::int64_t block = 0; block < vit.depth; ++block) {
    const bool global = config.window == 0 || attends_globally(block, vit.depth);
    const Grid cell = global ? vit.grid : Grid{config.window, config.window};
    const auto tables =
        list->register_module(std::to_string(block), std::make_shared<torch::nn::Module>());
    const auto table = [&](const char* name, std::int64_t side) {
      return tables->register_parameter(name, torch::empty({2 * side - 1, vit.width / vit.heads}));
    };
    relative_.emplace_back(table("rows", cell.height), table("columns", cell.width));
  }
}

GridAttention Trunk::attention_of(std::size_t block, const Grid& grid) const {
  GridAttention where{.grid = grid};
  const bool global = attends_globally(static_cast<std::int64_t>(block), config_.encoder.vit.depth);
  if (config_.window > 0 && !global) where.window = config_.window;
  if (!relative_.empty()) std::tie(where.rows, where.columns) = relative_[block];
  return where;
}

std::array<Tensor, 4> Trunk::vit_maps(const Tensor& pixels, Noise* noise) const {
  const std::int64_t patch = config_.encoder.vit.patch;
  const Grid grid{pixels.size(2) / patch, pixels.size(3) / patch};
  const auto taps = tapped_blocks(config_.encoder.vit.depth);
  std::array<Tensor, 4> maps;
  Tensor x = vit_->embed(pixels).slice(1, 1).contiguous();  // [B, L, D]: no class position
  for (std::size_t i = 0; i < vit_->blocks().size(); ++i) {
    const GridAttention where = attention_of(i, grid);
    x = vit_->blocks()[i]->forward(x, noise, &where);
    for (std::size_t tap = 0; tap < taps.size(); ++tap) {
      if (taps[tap] != static_cast<std::int64_t>(i)) continue;
      maps[tap] = x.view({x.size(0), grid.height, grid.width, x.size(2)}).permute({0, 3, 1, 2});
    }
  }
  return maps;
}

std::array<Tensor, 4> Trunk::maps(const Tensor& pixels, Noise* noise) {
  return vit_ ? vit_maps(pixels, noise) : resnet_->stages(pixels, noise);
}

std::array<std::int64_t, 4> Trunk::channels() const {
  if (resnet_) return resnet_->config().channels();
  const std::int64_t width = config_.encoder.vit.width;
  return {width, width, width, width};
}

std::array<std::int64_t, 4> Trunk::strides() const {
  if (resnet_) return resnet_->config().strides();
  const std::int64_t patch = config_.encoder.vit.patch;
  return {patch, patch, patch, patch};
}

std::int64_t Trunk::step() const { return strides()[3]; }

void Trunk::load_pretrained(const ModelFile& file) {
  if (vit_) {
    load_pretrained_encoder(*vit_, config_.encoder, file);
  } else {
    load_strictly(*resnet_, file.tensors, {.source = file.source, .prefix = "encoder.trunk."});
  }
}

void Trunk::train(bool on) {
  torch::nn::Module::train(on);
  if (resnet_ && config_.frozen_norm) resnet_->eval();
}

void initialise_dense(torch::nn::Module& network, const RandomStream& stream) {
  initialise(network, stream);
  torch::NoGradGuard no_grad;
  for (const auto& item : network.named_parameters()) {
    if (item.key().starts_with("trunk.relative.")) item.value().zero_();
  }
}

std::vector<ParamGroup> dense_groups(const torch::nn::Module& network, const TrunkConfig& config,
                                     double layer_decay, double weight_decay) {
  if (config.encoder.kind != EncoderKind::kVit) return decay_groups(network, weight_decay);
  return layer_decay_groups(network, config.encoder.vit.depth, layer_decay, weight_decay,
                            decay_name);
}

}  // namespace addp
