#include "stages/recognition/backbone_start.h"

#include "base/error.h"
#include "nn/encoder/activation_bytes.h"
#include "tokenizer/vqgan_file.h"

namespace addp {
namespace {

BackboneStart from_file(const BackboneOptions& options) {
  BackboneStart start;
  start.file = open_model(options.model, {"addp", "classifier", "predictor"});
  start.config = backbone_config(*start.file);
  if (options.input == "tokens" && start.config.input == BackboneInput::kPixels) {
    throw UsageError("{}: its encoder takes pixels; omit --input tokens, or give a predictor",
                     options.model);
  }
  if (start.config.input == BackboneInput::kTokens) {
    start.tokenizer =
        options.tokenizer.empty() ? tokenizer_in(*start.file) : load_tokenizer(options.tokenizer);
    if (!start.tokenizer) {
      throw UsageError("{}: takes tokens and has no tokenizer inside; name one with --tokenizer",
                       options.model);
    }
  }
  return start;
}

BackboneStart from_scratch(const BackboneOptions& options, std::int64_t side) {
  BackboneStart start;
  if (options.input == "pixels") {
    start.config =
        backbone_preset(options.preset, grid_of_side(side, options.patch), options.patch);
    return start;
  }
  if (options.tokenizer.empty()) throw UsageError("--input tokens needs a --tokenizer");
  start.tokenizer = load_tokenizer(options.tokenizer);
  start.config = token_backbone_preset(
      options.preset, grid_of_side(side, start.tokenizer->factor()), *start.tokenizer);
  return start;
}

}  // namespace

BackboneStart start_backbone(const BackboneOptions& options, std::int64_t side) {
  BackboneStart start = options.model.empty() ? from_scratch(options, side) : from_file(options);
  start.grid = grid_of_side(
      side, start.tokenizer ? start.tokenizer->factor() : start.config.encoder.stride());
  return start;
}

double backbone_activation_bytes(const BackboneConfig& config, const Grid& grid, double pictures) {
  if (config.input == BackboneInput::kTokens) {
    return block_activation_bytes(config.width(), config.depth(),
                                  pictures * static_cast<double>(grid.area()));
  }
  const std::int64_t stride = config.encoder.stride();
  return encoder_activation_bytes(config.encoder,
                                  pictures * static_cast<double>(grid.area() * stride * stride));
}

}  // namespace addp
