#include "checkpoint/layout/recognise_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "checkpoint/layout/key_report.h"
#include "checkpoint/layout/published.h"
#include "checkpoint/model_kind.h"

namespace addp {
namespace {

using Json = nlohmann::json;

// What a layout has, or nothing where the tensors are not of that layout.
template <class Sizes>
std::optional<Sizes> sizes_if(Sizes (*read)(const TensorMap&, const std::string&),
                              const TensorMap& tensors) {
  try {
    return read(tensors, "");
  } catch (const DataError&) {
    return std::nullopt;
  }
}

// The sizes for people.
Json transformer_details(const PublishedTransformer& sizes) {
  Json details{{"width", sizes.width},
               {"depth", sizes.depth},
               {"mlp_ratio", static_cast<double>(sizes.hidden) / static_cast<double>(sizes.width)}};
  if (sizes.patch > 0) details["patch"] = sizes.patch;
  const std::int64_t positions = sizes.positions > 0 ? sizes.positions : sizes.decoder_positions;
  if (positions > 0) {
    const std::int64_t side = square_side(positions - 1);
    details["tokens"] = positions - 1;
    details["grid"] = {side, side};
    if (sizes.patch > 0) details["picture"] = side * sizes.patch;
  }
  if (sizes.decoder_width > 0) {
    details["decoder_width"] = sizes.decoder_width;
    details["decoder_depth"] = sizes.decoder_depth;
  }
  return details;
}

std::string vit_title(std::string_view what, const Json& details) {
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
  std::string title = vit_title(about(ModelKind::kPredictor).title, details);
  title += tokenizer ? ", with the tokenizer inside (vqgan.*)" : ", without a tokenizer";
  return {"predictor",
          title,
          details,
          about(ModelKind::kPredictor).uses,
          {"cls_token", "pos_embed", "mask_token", "patch_embed.*", "decoder_pos_embed",
           "decoder_pred.*", "token_emb.position_ids"}};
}

KindFinding addp_network(const TensorMap& tensors, Json details, std::int64_t rows) {
  details["vocabulary"] = rows;
  std::string title = vit_title(about(ModelKind::kAddp).title, details);
  std::vector<std::string> uses = about(ModelKind::kAddp).uses;
  if (has_prefix(tensors, "bypass.")) {
    title += ", prepared by 'addp distil' (bypass.*)";
    uses.insert(uses.begin() + 1, "do so with --fast");
  }
  return {"addp",
          title,
          details,
          uses,
          {"decoder_pos_embed", "decoder_pred.*", "pos_token_embed", "pos_mask_embed"}};
}

KindFinding classifier(const TensorMap& tensors, Json details, std::int64_t classes) {
  details["classes"] = classes;
  details["pool"] = tensors.contains("fc_norm.weight") ? "mean" : "class-token";
  return {"classifier",
          vit_title("ViT classifier", details) + fmt::format(", {} classes", classes),
          details,
          about(ModelKind::kClassifier).uses,
          {}};
}

}  // namespace

std::optional<KindFinding> find_tokenizer(const TensorMap& tensors) {
  const auto sizes = sizes_if(published_tokenizer, tensors);
  if (!sizes) return std::nullopt;
  const std::int64_t stem = std::max<std::int64_t>(sizes->stem, 1);
  const std::int64_t factor = stem << (sizes->multipliers.size() - 1);
  Json details{{"channels", sizes->channels},
               {"multipliers", sizes->multipliers},
               {"blocks", sizes->blocks},
               {"codes", sizes->codes},
               {"code_width", sizes->code_width},
               {"stem", stem},
               {"factor", factor},
               {"attention", sizes->attention}};
  const std::string title = fmt::format(
      "VQGAN tokenizer: {} codes of width {}, 1/{} of the picture's side, channels {} x ({})",
      sizes->codes, sizes->code_width, factor, sizes->channels,
      fmt::join(sizes->multipliers, ", "));
  return KindFinding{"tokenizer", title, details, about(ModelKind::kTokenizer).uses, {"loss.*"}};
}

std::optional<KindFinding> find_transformer(const TensorMap& tensors) {
  const auto sizes = sizes_if(published_transformer, tensors);
  if (!sizes) return std::nullopt;
  const Json details = transformer_details(*sizes);
  if (sizes->words > 0 && has_prefix(tensors, "mlm_layer.")) {
    return sizes->token_positions > 0 ? predictor(tensors, details, sizes->words)
                                      : addp_network(tensors, details, sizes->words);
  }
  if (sizes->patch == 0) return std::nullopt;
  const std::vector<std::string> uses{"fine-tune a classifier, detector or segmenter",
                                      "extract features"};
  if (sizes->decoder_depth > 0) {
    return KindFinding{
        "mae", vit_title("MAE pre-trained ViT with its decoder", details), details, uses, {}};
  }
  if (sizes->classes > 0) return classifier(tensors, details, sizes->classes);
  return KindFinding{"vit", vit_title("ViT encoder", details), details, uses, {}};
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
