#include "model/presets.h"

#include <array>

#include "base/error.h"

namespace addp {
namespace {

// nano is what two cores train within the hour. base and large are the published sizes, their
// decoders have 16 heads; tiny and small have the widths of DeiT (Touvron et al. 2021).
constexpr std::array<TransformerSize, 5> kTransformers = {{
    // name, width, depth, heads, decoder width, depth, heads
    {"nano", 128, 6, 4, 128, 3, 4},
    {"tiny", 192, 12, 3, 192, 8, 3},
    {"small", 384, 12, 6, 384, 8, 6},
    {"base", 768, 12, 12, 768, 8, 16},
    {"large", 1024, 24, 16, 1024, 8, 16},
}};

// Without the pooling the maps of small pictures keep twice the resolution.
constexpr std::array<ResNetSize, 3> kResNets = {{
    {"resnet-pico", {1, 1, 1, 1}, 16, false, "nano"},
    {"resnet-nano", {1, 1, 2, 1}, 32, false, "nano"},
    {"resnet50", {3, 4, 6, 3}, 64, true, "base"},
}};

constexpr std::array<TokenizerSize, 5> kTokenizers = {{
    // name, channels, multipliers, blocks, codes, width, stem, unit codes, input shortcut, groups
    {"light-4", 32, "2,4", 2, 1024, 16, 2, true, true, 8},
    {"light-8", 32, "1,2,4", 2, 1024, 16, 2, true, true, 8},
    {"light-16", 32, "1,2,4,4", 2, 1024, 16, 2, true, true, 8},
    {"small", 64, "1,1,2,2,4", 1, 1024, 64, 1, false, false, 32},
    {"published", 128, "1,1,2,2,4", 2, 1024, 256, 1, false, false, 32},
}};

template <class Size, std::size_t N>
const Size& find(const std::array<Size, N>& table, std::string_view what, std::string_view name) {
  std::string known;
  for (const Size& size : table) {
    if (size.name == name) return size;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", size.name);
  }
  throw UsageError("there is no {} size '{}': choose one of {}", what, name, known);
}

}  // namespace

const TransformerSize& transformer_size(std::string_view name) {
  return find(kTransformers, "network", name);
}

const TokenizerSize& tokenizer_size(std::string_view name) {
  return find(kTokenizers, "tokenizer", name);
}

const ResNetSize* resnet_size(std::string_view name) {
  for (const ResNetSize& size : kResNets) {
    if (size.name == name) return &size;
  }
  return nullptr;
}

const TransformerSize& companion_size(std::string_view encoder) {
  const ResNetSize* resnet = resnet_size(encoder);
  return transformer_size(resnet ? resnet->transformer : encoder);
}

std::int64_t usual_heads(std::int64_t width) {
  for (const TransformerSize& size : kTransformers) {
    if (size.width == width) return size.heads;
  }
  return 4;
}

std::int64_t usual_decoder_heads(std::int64_t width) {
  for (const TransformerSize& size : kTransformers) {
    if (size.decoder_width == width) return size.decoder_heads;
  }
  return 4;
}

Vocabulary vocabulary_of_rows(std::int64_t rows, const std::string& source) {
  Vocabulary vocabulary;
  vocabulary.codes = rows - vocabulary.class_ids - 1;
  if (vocabulary.codes < 2) {
    throw DataError("{}: {} token embeddings leave no codes beside 1000 classes and the mask",
                    source, rows);
  }
  return vocabulary;
}

}  // namespace addp
