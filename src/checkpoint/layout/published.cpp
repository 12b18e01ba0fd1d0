#include "checkpoint/layout/published.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace addp {
namespace {

// A dimension of a tensor that need not be there: 0 without it.
std::int64_t size_or_none(const TensorMap& tensors, const std::string& name, std::size_t rank,
                          std::size_t dimension) {
  const auto* shape = find_shape(tensors, name, rank);
  return shape == nullptr ? 0 : (*shape)[dimension];
}

}  // namespace

const std::vector<std::int64_t>* find_shape(const TensorMap& tensors, const std::string& name,
                                            std::size_t rank) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || found->second.shape.size() != rank) return nullptr;
  const auto& shape = found->second.shape;
  return std::find(shape.begin(), shape.end(), 0) == shape.end() ? &shape : nullptr;
}

const std::vector<std::int64_t>& shape_of(const TensorMap& tensors, const std::string& name,
                                          std::size_t rank, const std::string& source) {
  if (const auto* shape = find_shape(tensors, name, rank)) return *shape;
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    throw DataError("{} has no tensor '{}': it is not a checkpoint of this kind", source, name);
  }
  throw DataError(
      "{}: '{}' has {} dimensions where {} are expected, or is empty: it is not a checkpoint of "
      "this kind",
      source, name, found->second.shape.size(), rank);
}

bool has_prefix(const TensorMap& tensors, const std::string& prefix) {
  const auto next = tensors.lower_bound(prefix);
  return next != tensors.end() && next->first.starts_with(prefix);
}

std::int64_t count_numbered(const TensorMap& tensors, const std::string& prefix) {
  std::int64_t count = 0;
  while (has_prefix(tensors, fmt::format("{}.{}.", prefix, count))) ++count;
  return count;
}

std::int64_t square_side(std::int64_t cells) {
  if (cells < 1) return 0;
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(cells))));
  return side * side == cells ? side : 0;
}

PublishedTransformer published_transformer(const TensorMap& tensors, const std::string& source) {
  const auto& qkv = shape_of(tensors, "blocks.0.attn.qkv.weight", 2, source);
  const auto& fc1 = shape_of(tensors, "blocks.0.mlp.fc1.weight", 2, source);
  if (qkv[0] != 3 * qkv[1] || fc1[1] != qkv[1]) {
    throw DataError("{}: its first block has no one width: it is not a checkpoint of this kind",
                    source);
  }
  PublishedTransformer sizes;
  sizes.width = qkv[1];
  sizes.hidden = fc1[0];
  sizes.depth = count_numbered(tensors, "blocks");
  sizes.patch = size_or_none(tensors, "patch_embed.proj.weight", 4, 2);
  sizes.positions = size_or_none(tensors, "pos_embed", 3, 1);
  sizes.token_positions = size_or_none(tensors, "token_emb.position_embeddings.weight", 2, 0);
  sizes.decoder_width = size_or_none(tensors, "decoder_blocks.0.attn.qkv.weight", 2, 1);
  sizes.decoder_depth = count_numbered(tensors, "decoder_blocks");
  sizes.decoder_positions = size_or_none(tensors, "decoder_pos_embed_learned", 3, 1);
  // MAGE's embedding of tokens has parts, ADDP's is one table.
  sizes.words = std::max(size_or_none(tensors, "token_emb.word_embeddings.weight", 2, 0),
                         size_or_none(tensors, "token_emb.weight", 2, 0));
  sizes.classes = size_or_none(tensors, "head.weight", 2, 0);
  return sizes;
}

PublishedTokenizer published_tokenizer(const TensorMap& tensors, const std::string& source) {
  constexpr std::int64_t kMaxLevels = 16;
  const auto& conv_in = shape_of(tensors, "encoder.conv_in.weight", 4, source);
  const auto& conv_out = shape_of(tensors, "decoder.conv_out.weight", 4, source);
  const auto& codebook = shape_of(tensors, "quantize.embedding.weight", 2, source);
  PublishedTokenizer sizes;
  sizes.channels = conv_in[0];
  sizes.blocks = count_numbered(tensors, "encoder.down.0.block");
  sizes.codes = codebook[0];
  sizes.code_width = codebook[1];
  // A pixel shuffle at the end gives stem^2 outputs for each colour.
  if (conv_out[0] % conv_in[1] == 0) sizes.stem = square_side(conv_out[0] / conv_in[1]);
  sizes.attention = has_prefix(tensors, "encoder.mid.attn_1.");
  const std::int64_t levels = std::min(count_numbered(tensors, "encoder.down"), kMaxLevels);
  for (std::int64_t level = 0; level < levels; ++level) {
    const std::string block = fmt::format("encoder.down.{}.block.0.", level);
    const auto& conv = shape_of(tensors, block + "conv1.weight", 4, source);
    if (conv[0] % sizes.channels != 0) {
      throw DataError("{}: level {} has {} channels, no multiple of the first level's {}", source,
                      level, conv[0], sizes.channels);
    }
    sizes.multipliers.push_back(conv[0] / sizes.channels);
    if (const auto* shortcut = find_shape(tensors, block + "nin_shortcut.weight", 4)) {
      sizes.input_shortcut = (*shortcut)[1] == conv[1];
    }
  }
  if (sizes.multipliers.empty()) {
    throw DataError("{} has no levels 'encoder.down.N': it is not a tokenizer", source);
  }
  return sizes;
}

}  // namespace addp
