// The kinds of networks that recognise() knows, each by one function from names and shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.h"

namespace addp {

struct KindFinding {
  std::string kind, title;
  nlohmann::json details;
  std::vector<std::string> uses;
  std::vector<std::string> unused;  // patterns of names that the layout carries and nothing uses
};

// The first kind that fits. Shapes are not trusted: what does not fit is "tensors".
KindFinding find_kind(const TensorMap& tensors);

// --- parts of it, over names without prefix

std::optional<KindFinding> find_tokenizer(const TensorMap& tensors);
// ViT-shaped networks: predictor, ADDP, MAE, classifier, plain encoder.
std::optional<KindFinding> find_transformer(const TensorMap& tensors);
// ResNet, Inception, LPIPS.
std::optional<KindFinding> find_convolutional(const TensorMap& tensors);

// The shape if the tensor is there and has that many dimensions, none of them empty.
const std::vector<std::int64_t>* find_shape(const TensorMap& tensors, const std::string& name,
                                            std::size_t rank);
bool has_prefix_in(const TensorMap& tensors, const std::string& prefix);
// How many N there are, from 0 on, such that a name starts with "prefix.N.".
std::int64_t count_numbered(const TensorMap& tensors, const std::string& prefix);

}  // namespace addp
