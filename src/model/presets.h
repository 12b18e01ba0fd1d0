// The table of sizes of the networks that generate. Everything that a user calls by a name (tiny,
// base, ...) is in it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "nn/layer/vocabulary.h"
#include "nn/types.h"

namespace addp {

// A transformer with its decoder: an ADDP network or a MAGE predictor.
struct TransformerSize {
  std::string_view name;
  std::int64_t width, depth, heads;
  std::int64_t decoder_width, decoder_depth, decoder_heads;
};

// A ResNet as an encoder; its features, and the decoder of an ADDP network with it, have the sizes
// of the row `transformer`.
struct ResNetSize {
  std::string_view name;
  std::array<std::int64_t, 4> depths;
  std::int64_t width;
  bool pool;  // after the stem
  std::string_view transformer;
};

struct TokenizerSize {
  std::string_view name;
  std::int64_t channels;
  std::string_view multipliers;  // fine to coarse
  std::int64_t blocks;
  std::int64_t codes, code_width;
  std::int64_t stem;
  bool unit_codes, input_shortcut;
  std::int64_t groups;
};

// A UsageError lists the names there are.
const TransformerSize& transformer_size(std::string_view name);
const TokenizerSize& tokenizer_size(std::string_view name);
// Null where the name is no ResNet's.
const ResNetSize* resnet_size(std::string_view name);
// The transformer that goes with an encoder of this name: its own row, or its ResNet's.
const TransformerSize& companion_size(std::string_view encoder);

// Heads leave no trace in a checkpoint's shapes: those of the table's sizes, else 4.
std::int64_t usual_heads(std::int64_t width);
std::int64_t usual_decoder_heads(std::int64_t width);

// The vocabulary of a foreign checkpoint with that many embeddings; the published ones have
// 1000 class ids.
Vocabulary vocabulary_of_rows(std::int64_t rows, const std::string& source);

}  // namespace addp
