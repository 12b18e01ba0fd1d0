#include "heads/backbone/maps.h"

#include "base/error.h"
#include "model/init.h"
#include "model/load.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr const char* kRelative = "relative";

// "maps.encoder.blocks.3.x" -> "blocks.3.x", "maps.relative.3.rows" -> "blocks.3.relative.rows".
std::string decay_name(const std::string& name) {
  constexpr std::string_view kEncoder = "maps.encoder.", kTables = "maps.relative.";
  if (name.starts_with(kEncoder)) return name.substr(kEncoder.size());
  if (!name.starts_with(kTables)) return name;
  const auto dot = name.find('.', kTables.size());
  return fmt::format("blocks.{}.relative{}", name.substr(kTables.size(), dot - kTables.size()),
                     name.substr(dot));
}

}  // namespace

std::array<std::int64_t, 4> tapped_blocks(std::int64_t depth) {
  const auto at = [](std::int64_t index) { return std::max<std::int64_t>(index - 1, 0); };
  return {at(depth / 3), at(depth / 2), at(2 * depth / 3), depth - 1};
}

bool attends_globally(std::int64_t block, std::int64_t depth) {
  return 4 * (block + 1) / depth != 4 * block / depth;
}

Maps::Maps(const MapsConfig& config, std::shared_ptr<const Vqgan> tokenizer)
    : config_(config), tokenizer_(std::move(tokenizer)) {
  const BackboneConfig& backbone = config.backbone;
  if (!backbone.is_transformer()) {
    ResNetConfig& resnet = config_.backbone.encoder.resnet.trunk;
    resnet.classes = 0;
    resnet_ = register_module("resnet", std::make_shared<ResNet>(resnet));
    return;
  }
  transformer_ = std::dynamic_pointer_cast<TransformerEncoder>(make_backbone(backbone, tokenizer_));
  register_module("encoder", transformer_);
  if (!config.relative_positions) return;
  const auto list = register_module(kRelative, std::make_shared<torch::nn::Module>());
  for (std::int64_t block = 0; block < backbone.depth(); ++block) {
    const bool global = config.window == 0 || attends_globally(block, backbone.depth());
    const Grid cell = global ? backbone.grid() : Grid{config.window, config.window};
    const auto tables =
        list->register_module(std::to_string(block), std::make_shared<torch::nn::Module>());
    const auto table = [&](const char* name, std::int64_t side) {
      return tables->register_parameter(
          name, torch::empty({2 * side - 1, backbone.width() / backbone.heads()}));
    };
    relative_.emplace_back(table("rows", cell.height), table("columns", cell.width));
  }
}

GridAttention Maps::attention_of(std::size_t block, const Grid& grid) const {
  GridAttention where{.grid = grid};
  const bool global = attends_globally(static_cast<std::int64_t>(block), config_.backbone.depth());
  if (config_.window > 0 && !global) where.window = config_.window;
  if (!relative_.empty()) std::tie(where.rows, where.columns) = relative_[block];
  return where;
}

std::array<Tensor, 4> Maps::transformer_maps(const Tensor& pixels, DropoutKeys* keys) const {
  const std::int64_t stride = transformer_->stride();
  const Grid grid{pixels.size(2) / stride, pixels.size(3) / stride};
  const auto taps = tapped_blocks(config_.backbone.depth());
  std::array<Tensor, 4> maps;
  // [B, L, D]: no class position
  Tensor x = transformer_->embed(pixels, keys).slice(1, 1).contiguous();
  for (std::size_t i = 0; i < transformer_->blocks().size(); ++i) {
    const GridAttention where = attention_of(i, grid);
    x = transformer_->blocks()[i]->forward(x, keys, &where);
    for (std::size_t tap = 0; tap < taps.size(); ++tap) {
      if (taps[tap] != static_cast<std::int64_t>(i)) continue;
      maps[tap] = x.view({x.size(0), grid.height, grid.width, x.size(2)}).permute({0, 3, 1, 2});
    }
  }
  return maps;
}

std::array<Tensor, 4> Maps::forward(const Tensor& pixels, DropoutKeys* keys) {
  return transformer_ ? transformer_maps(pixels, keys) : resnet_->stages(pixels, keys);
}

std::array<std::int64_t, 4> Maps::channels() const {
  if (resnet_) return resnet_->config().channels();
  const std::int64_t width = transformer_->width();
  return {width, width, width, width};
}

std::array<std::int64_t, 4> Maps::strides() const {
  if (resnet_) return resnet_->config().strides();
  const std::int64_t stride = transformer_->stride();
  return {stride, stride, stride, stride};
}

std::int64_t Maps::step() const { return strides()[3]; }

void Maps::load_pretrained(const ModelFile& file) {
  if (transformer_) {
    load_backbone(*transformer_, config_.backbone, file);
  } else {
    load_strictly(*resnet_, file.tensors, {.source = file.source, .prefix = "encoder.trunk."});
  }
}

void Maps::train(bool on) {
  torch::nn::Module::train(on);
  if (resnet_ && config_.frozen_norm) resnet_->eval();
}

void initialise_on_maps(torch::nn::Module& network, const RandomStream& stream) {
  initialise(network, stream);
  torch::NoGradGuard no_grad;
  for (const auto& item : network.named_parameters()) {
    if (item.key().starts_with("maps.relative.")) item.value().zero_();
  }
}

std::vector<ParamGroup> maps_groups(const torch::nn::Module& network, const MapsConfig& config,
                                    double layer_decay, double weight_decay) {
  if (!config.backbone.is_transformer()) return decay_groups(network, weight_decay);
  return layer_decay_groups(network, config.backbone.depth(), layer_decay, weight_decay,
                            decay_name);
}

}  // namespace addp
