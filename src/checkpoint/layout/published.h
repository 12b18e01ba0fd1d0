// The sizes of published transformers and tokenizers, read from the names and shapes of their
// tensors; recognise_convolutional.cpp knows ResNets, Inception and LPIPS. What a checkpoint is
// (recognise.h) and how its network is configured both follow from here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.h"

namespace addp {

// The transformers of the family: ViT, MAE, MAGE, ADDP, classifiers. 0 where there is none.
struct PublishedTransformer {
  std::int64_t width = 0, depth = 0;
  std::int64_t hidden = 0;           // of an MLP
  std::int64_t patch = 0;            // pixels each way
  std::int64_t positions = 0;        // of the encoder, the class position included
  std::int64_t token_positions = 0;  // of an encoder of tokens
  std::int64_t decoder_width = 0, decoder_depth = 0, decoder_positions = 0;
  std::int64_t words = 0;    // rows of an embedding of tokens
  std::int64_t classes = 0;  // of a linear classifier
};

struct PublishedTokenizer {
  std::int64_t channels = 0;
  std::vector<std::int64_t> multipliers;  // of the channels, by level
  std::int64_t blocks = 0;                // per level
  std::int64_t codes = 0, code_width = 0;
  std::int64_t stem = 0;  // pixels that the last layer gives at once, each way; 0: no square
  bool attention = false;
  bool input_shortcut = false;  // shortcuts start at a block's input
};

// A DataError names the tensor of `source` that is missing or has another shape than the layout
// wants.
PublishedTransformer published_transformer(const TensorMap& tensors, const std::string& source);
PublishedTokenizer published_tokenizer(const TensorMap& tensors, const std::string& source);

// --- names and shapes

// The shape of a tensor; a DataError names the file when it is missing, empty or of another rank.
const std::vector<std::int64_t>& shape_of(const TensorMap& tensors, const std::string& name,
                                          std::size_t rank, const std::string& source);
// The same, null instead of an error.
const std::vector<std::int64_t>* find_shape(const TensorMap& tensors, const std::string& name,
                                            std::size_t rank);
bool has_prefix(const TensorMap& tensors, const std::string& prefix);
// How many N there are, from 0 on, such that a name starts with "prefix.N.".
std::int64_t count_numbered(const TensorMap& tensors, const std::string& prefix);
// The side of a square of `cells` cells, or 0.
std::int64_t square_side(std::int64_t cells);

}  // namespace addp
