// An ADDP model that costs next to nothing: pictures of 32 pixels, the small tokenizer inside.
#pragma once

#include <filesystem>
#include <string>

#include "diffusion/addp_file.h"
#include "model/init.h"
#include "support/small_tokenizer.h"

namespace addp::testing {

struct SmallAddp {
  std::shared_ptr<Vqgan> tokenizer;
  std::shared_ptr<Addp> network;
};

// Random weights, the codes far enough apart to be told apart.
inline SmallAddp make_small_addp(std::string_view preset = "nano", std::int64_t class_ids = 1) {
  SmallAddp small;
  small.tokenizer = std::make_shared<Vqgan>(small_tokenizer());
  initialise_vqgan(*small.tokenizer, RandomStream(1, "tokenizer"));
  fill_normal(small.tokenizer->named_parameters()["quantize.embedding.weight"], 1,
              RandomStream(1, "codes"));
  AddpConfig config = addp_preset(preset, {small.tokenizer->config().codes, class_ids}, {4, 4},
                                  small.tokenizer->factor());
  if (config.encoder.kind == EncoderKind::kVit) config.encoder.vit.depth = 2;
  config.decoder_depth = 1;
  small.network = std::make_shared<Addp>(config);
  initialise(*small.network, RandomStream(1, "addp"));
  small.network->eval();
  return small;
}

// `provenance` is JSON text.
inline void write_small_addp(const std::filesystem::path& file, const SmallAddp& small,
                             const std::string& provenance = "{}") {
  save_addp(file, *small.network, *small.tokenizer, provenance);
}

// A bypass of random weights that leads somewhere: its last layer does not start at zero.
inline std::shared_ptr<Bypass> make_small_bypass(const SmallAddp& small, std::uint64_t seed = 1) {
  auto bypass = std::make_shared<Bypass>(
      BypassConfig{.code_width = small.tokenizer->config().code_width,
                   .width = 32,
                   .blocks = 1,
                   .skip = 1,
                   .encoder_width = small.network->config().encoder.width(),
                   .grid = small.network->config().grid});
  initialise(*bypass, RandomStream(seed, "bypass"));
  return bypass;
}

}  // namespace addp::testing
