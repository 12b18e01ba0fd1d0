#include "checkpoint/layout/recognise_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "checkpoint/layout/key_report.h"

namespace addp {
namespace {

using Json = nlohmann::json;

// The side of a square grid with `cells` cells, or 0.
std::int64_t square_side(std::int64_t cells) {
  if (cells < 1) return 0;
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(cells))));
  return side * side == cells ? side : 0;
}

// The sizes that every transformer of the family has.
std::optional<Json> trunk_sizes(const TensorMap& tensors) {
  const auto* qkv = find_shape(tensors, "blocks.0.attn.qkv.weight", 2);
  const auto* fc1 = find_shape(tensors, "blocks.0.mlp.fc1.weight", 2);
  if (qkv == nullptr || fc1 == nullptr || (*qkv)[0] != 3 * (*qkv)[1] || (*fc1)[1] != (*qkv)[1]) {
    return std::nullopt;
  }
  const std::int64_t width = (*qkv)[1];
  Json details{{"width", width},
               {"depth", count_numbered(tensors, "blocks")},
               {"mlp_ratio", static_cast<double>((*fc1)[0]) / static_cast<double>(width)}};
  if (const auto* patch = find_shape(tensors, "patch_embed.proj.weight", 4)) {
    details["patch"] = (*patch)[2];
  }
  const auto* positions = find_shape(tensors, "pos_embed", 3);
  if (positions == nullptr) positions = find_shape(tensors, "decoder_pos_embed_learned", 3);
  if (positions != nullptr) {
    const std::int64_t side = square_side((*positions)[1] - 1);
    details["tokens"] = (*positions)[1] - 1;
    details["grid"] = {side, side};
    if (details.contains("patch")) details["picture"] = side * details["patch"].get<std::int64_t>();
  }
  if (const auto* decoder = find_shape(tensors, "decoder_blocks.0.attn.qkv.weight", 2)) {
    details["decoder_width"] = (*decoder)[1];
    details["decoder_depth"] = count_numbered(tensors, "decoder_blocks");
  }
  return details;
}

std::string vit_title(const char* what, const Json& details) {
  std::string title =
      fmt::format("{}: width {}, {} blocks", what, details["width"].get<std::int64_t>(),
                  details["depth"].get<std::int64_t>());
  if (details.contains("decoder_depth")) {
    title += fmt::format(", decoder {} x {}", details["decoder_width"].get<std::int64_t>(),
                         details["decoder_depth"].get<std::int64_t>());
  }
  if (details.contains("tokens"))
    title += fmt::format(", {} tokens", details["tokens"].get<std::int64_t>());
  return title;
}

KindFinding predictor(const TensorMap& tensors, Json details, std::int64_t rows) {
  details["vocabulary"] = rows;
  const auto tokenizer = find_tokenizer(with_prefix_removed(tensors, "vqgan."));
  details["has_tokenizer"] = tokenizer.has_value();
  if (tokenizer) details["tokenizer"] = tokenizer->details;
  std::string title = vit_title("MAGE token predictor", details);
  title += tokenizer ? ", with the tokenizer inside (vqgan.*)" : ", without a tokenizer";
  return {"predictor",
          title,
          details,
          {"predict tokens while ADDP is trained", "generate pictures with MAGE itself"},
          {"cls_token", "pos_embed", "mask_token", "patch_embed.*", "decoder_pos_embed",
           "decoder_pred.*", "token_emb.position_ids"}};
}

KindFinding addp_network(Json details, std::int64_t rows) {
  details["vocabulary"] = rows;
  return {"addp",
          vit_title("ADDP network", details),
          details,
          {"generate and repair pictures (with a predictor and a tokenizer)",
           "fine-tune a classifier, detector or segmenter", "extract features"},
          {"decoder_pos_embed", "decoder_pred.*", "pos_token_embed", "pos_mask_embed"}};
}

KindFinding classifier(const TensorMap& tensors, Json details, std::int64_t classes) {
  details["classes"] = classes;
  details["pool"] = tensors.contains("fc_norm.weight") ? "mean" : "class-token";
  return {"classifier",
          vit_title("ViT classifier", details) + fmt::format(", {} classes", classes),
          details,
          {"classify pictures", "measure accuracy and robustness", "extract features"},
          {}};
}

}  // namespace

const std::vector<std::int64_t>* find_shape(const TensorMap& tensors, const std::string& name,
                                            std::size_t rank) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || found->second.shape.size() != rank) return nullptr;
  const auto& shape = found->second.shape;
  return std::find(shape.begin(), shape.end(), 0) == shape.end() ? &shape : nullptr;
}

bool has_prefix_in(const TensorMap& tensors, const std::string& prefix) {
  const auto next = tensors.lower_bound(prefix);
  return next != tensors.end() && next->first.starts_with(prefix);
}

std::int64_t count_numbered(const TensorMap& tensors, const std::string& prefix) {
  std::int64_t count = 0;
  while (has_prefix_in(tensors, fmt::format("{}.{}.", prefix, count))) ++count;
  return count;
}

std::optional<KindFinding> find_tokenizer(const TensorMap& tensors) {
  const auto* conv_in = find_shape(tensors, "encoder.conv_in.weight", 4);
  const auto* conv_out = find_shape(tensors, "decoder.conv_out.weight", 4);
  const auto* codebook = find_shape(tensors, "quantize.embedding.weight", 2);
  if (conv_in == nullptr || conv_out == nullptr || codebook == nullptr) return std::nullopt;
  const std::int64_t channels = (*conv_in)[0], colours = (*conv_in)[1];
  std::vector<std::int64_t> multipliers;
  const std::int64_t levels = std::min<std::int64_t>(count_numbered(tensors, "encoder.down"), 16);
  for (std::int64_t level = 0; level < levels; ++level) {
    const auto* conv =
        find_shape(tensors, fmt::format("encoder.down.{}.block.0.conv1.weight", level), 4);
    if (conv == nullptr) return std::nullopt;
    multipliers.push_back((*conv)[0] / channels);
  }
  if (multipliers.empty()) return std::nullopt;
  // A pixel shuffle at the end gives stem^2 outputs a colour.
  const std::int64_t stem = std::max<std::int64_t>(square_side((*conv_out)[0] / colours), 1);
  Json details{{"channels", channels},
               {"multipliers", multipliers},
               {"blocks", count_numbered(tensors, "encoder.down.0.block")},
               {"codes", (*codebook)[0]},
               {"code_width", (*codebook)[1]},
               {"stem", stem},
               {"factor", stem << (levels - 1)},
               {"attention", has_prefix_in(tensors, "encoder.mid.attn_1.")}};
  const std::string title = fmt::format(
      "VQGAN tokenizer: {} codes of width {}, 1/{} of the picture's side, channels {} x ({})",
      (*codebook)[0], (*codebook)[1], stem << (levels - 1), channels, fmt::join(multipliers, ", "));
  return KindFinding{"tokenizer",
                     title,
                     details,
                     {"turn pictures into tokens and back", "train a predictor and ADDP"},
                     {"loss.*"}};
}

std::optional<KindFinding> find_transformer(const TensorMap& tensors) {
  const auto trunk = trunk_sizes(tensors);
  if (!trunk) return std::nullopt;
  const bool head = has_prefix_in(tensors, "mlm_layer.");
  if (const auto* words = find_shape(tensors, "token_emb.word_embeddings.weight", 2);
      words && head) {
    return predictor(tensors, *trunk, (*words)[0]);
  }
  if (const auto* words = find_shape(tensors, "token_emb.weight", 2); words && head) {
    return addp_network(*trunk, (*words)[0]);
  }
  if (!trunk->contains("patch")) return std::nullopt;
  if (has_prefix_in(tensors, "decoder_blocks.")) {
    return KindFinding{"mae",
                       vit_title("MAE pre-trained ViT with its decoder", *trunk),
                       *trunk,
                       {"fine-tune a classifier, detector or segmenter", "extract features"},
                       {}};
  }
  if (const auto* classes = find_shape(tensors, "head.weight", 2)) {
    return classifier(tensors, *trunk, (*classes)[0]);
  }
  return KindFinding{"vit",
                     vit_title("ViT encoder", *trunk),
                     *trunk,
                     {"fine-tune a classifier, detector or segmenter", "extract features"},
                     {}};
}

KindFinding find_kind(const TensorMap& tensors) {
  for (const auto find : {find_transformer, find_tokenizer, find_convolutional}) {
    if (auto finding = find(tensors)) return *finding;
  }
  return {"tensors",
          fmt::format("{} tensors of no known network", tensors.size()),
          Json::object(),
          {},
          {}};
}

}  // namespace addp
