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

}  // namespace addp
