// A token predictor that costs next to nothing, for the small tokenizer and pictures of 32 pixels.
#pragma once

#include <filesystem>
#include <string>

#include "model/init.h"
#include "predictor/mage_file.h"
#include "support/small_tokenizer.h"

namespace addp::testing {

// A tokenizer of random weights in a file of the folder.
inline std::filesystem::path write_small_tokenizer(const std::filesystem::path& folder) {
  Vqgan tokenizer(small_tokenizer());
  initialise_vqgan(tokenizer, RandomStream(1, "tokenizer"));
  save_tokenizer(folder / "tokenizer.safetensors", tokenizer, "{}");
  return folder / "tokenizer.safetensors";
}

// Random weights, the tokenizer inside. `provenance` is JSON text.
inline void write_small_predictor(const std::filesystem::path& file, std::int64_t class_ids,
                                  const std::string& provenance = "{}") {
  Vqgan tokenizer(small_tokenizer());
  initialise_vqgan(tokenizer, RandomStream(1, "tokenizer"));
  MageConfig config;
  config.vocabulary = {tokenizer.config().codes, class_ids};
  config.grid = {4, 4};
  config.width = config.decoder_width = 16;
  config.depth = config.decoder_depth = 1;
  config.heads = config.decoder_heads = 2;
  Mage predictor(config);
  initialise(predictor, RandomStream(1, "predictor"));
  save_predictor(file, predictor, tokenizer, provenance);
}

}  // namespace addp::testing
