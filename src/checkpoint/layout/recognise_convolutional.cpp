#include <fmt/format.h>

#include "checkpoint/layout/published.h"
#include "checkpoint/layout/recognise_kinds.h"

namespace addp {
namespace {

using Json = nlohmann::json;

std::optional<KindFinding> find_resnet(const TensorMap& tensors) {
  const auto* stem = find_shape(tensors, "conv1.weight", 4);
  const auto* deep = find_shape(tensors, "layer1.0.conv3.weight", 4);  // bottleneck blocks only
  if (stem == nullptr || deep == nullptr || (*stem)[2] != 7) return std::nullopt;
  std::vector<std::int64_t> blocks;
  for (int stage = 1; stage <= 4; ++stage) {
    blocks.push_back(count_numbered(tensors, fmt::format("layer{}", stage)));
  }
  Json details{{"blocks", blocks}, {"width", (*stem)[0]}};
  const auto* classes = find_shape(tensors, "fc.weight", 2);
  if (classes != nullptr) details["classes"] = (*classes)[0];
  const std::vector<std::int64_t> fifty{3, 4, 6, 3};
  if (blocks != fifty) return std::nullopt;
  std::vector<std::string> uses{"fine-tune a classifier, detector or segmenter"};
  if (classes != nullptr) uses.insert(uses.begin(), "classify pictures");
  return KindFinding{"resnet50",
                     classes ? fmt::format("ResNet-50, {} classes", (*classes)[0])
                             : std::string("ResNet-50 without its classifier"),
                     details,
                     uses,
                     {}};
}

std::optional<KindFinding> find_inception(const TensorMap& tensors) {
  if (find_shape(tensors, "Conv2d_1a_3x3.conv.weight", 4) == nullptr ||
      !has_prefix(tensors, "Mixed_5b.") || !has_prefix(tensors, "Mixed_7c.")) {
    return std::nullopt;
  }
  const auto* fc = find_shape(tensors, "fc.weight", 2);
  Json details{{"fc", fc != nullptr}, {"features", 2048}};
  std::vector<std::string> uses{"measure FID, precision and recall"};
  if (fc != nullptr) {
    details["classes"] = (*fc)[0];
    uses.emplace_back("measure the Inception Score");
  }
  return KindFinding{
      "inception",
      fc ? "Inception network of FID" : "Inception network of FID, without its fc layer",
      details,
      uses,
      {}};
}

// lin0.weight in plain files, lin0.model.1.weight in the package's own.
std::optional<KindFinding> find_lpips(const TensorMap& tensors) {
  std::int64_t layers = 0;
  while (find_shape(tensors, fmt::format("lin{}.weight", layers), 4) != nullptr ||
         find_shape(tensors, fmt::format("lin{}.model.1.weight", layers), 4) != nullptr) {
    ++layers;
  }
  if (layers < 5) return std::nullopt;
  const auto* first = find_shape(tensors, "features.0.weight", 4);
  Json details{{"layers", layers}, {"features", first != nullptr}};
  if (first != nullptr) details["backbone"] = (*first)[2] == 11 ? "alex" : "vgg";
  return KindFinding{
      "lpips",
      first ? fmt::format("LPIPS distance on {} features", details["backbone"].get<std::string>())
            : std::string("LPIPS linear layers without their features"),
      details,
      {"measure perceptual distance", "train a tokenizer"},
      {}};
}

}  // namespace

std::optional<KindFinding> find_convolutional(const TensorMap& tensors) {
  for (const auto find : {find_resnet, find_inception, find_lpips}) {
    if (auto finding = find(tensors)) return finding;
  }
  return std::nullopt;
}

}  // namespace addp
