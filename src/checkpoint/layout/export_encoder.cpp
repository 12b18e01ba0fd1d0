#include "checkpoint/layout/export_encoder.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/format/tensor_cast.h"
#include "checkpoint/layout/published.h"
#include "checkpoint/layout/recognise.h"
#include "checkpoint/pickle/torch_writer.h"

namespace addp {
namespace {

using Json = nlohmann::json;

constexpr const char* kPatchBias = "patch_embed.proj.bias";
constexpr const char* kPositions = "pos_embed";
constexpr std::string_view kNormInFront = "tokenizer_norm.";

struct VitSizes {
  std::int64_t width = 0, depth = 0, heads = 0, patch = 0, height = 0, picture_width = 0;
  double mlp_ratio = 4;
  std::int64_t classes = 0;  // of a head that goes along; 0: none
};

// The configuration of the ViT inside one of our files; empty for foreign ones.
Json own_vit(const Checkpoint& checkpoint) {
  const auto own = own_metadata(checkpoint);
  if (!own) return {};
  const Json encoder =
      own->kind == "classifier"
          ? own->config.value("backbone", Json::object()).value("encoder", Json::object())
          : own->config.value("encoder", Json::object());
  if (encoder.value("kind", "vit") != "vit") {
    throw DataError("{}: its encoder is a ResNet; timm and MAE take a ViT", checkpoint.path);
  }
  return encoder.value("vit", Json());
}

VitSizes sizes_of(const Checkpoint& checkpoint) {
  const Json vit = own_vit(checkpoint);
  const std::string kind = recognise(checkpoint, {.count_non_finite = false}).kind;
  const bool known = kind == "addp" || kind == "classifier" || kind == "vit" || kind == "mae";
  if (!known || !checkpoint.tensors.contains("cls_token") ||
      !checkpoint.tensors.contains("patch_embed.proj.weight")) {
    throw DataError("{}: has no ViT that sees pixels; give an ADDP model or a classifier on one",
                    checkpoint.path);
  }
  const PublishedTransformer found =
      published_transformer(checkpoint.tensors, checkpoint.path.string());
  VitSizes sizes;
  sizes.width = found.width;
  sizes.patch = found.patch;
  sizes.depth = found.depth;
  sizes.mlp_ratio = static_cast<double>(found.hidden) / static_cast<double>(found.width);
  const std::int64_t side = square_side(found.positions - 1);
  const Json grid = vit.is_object() ? vit.value("grid", Json::object()) : Json::object();
  sizes.height = grid.value("height", side) * sizes.patch;
  sizes.picture_width = grid.value("width", side) * sizes.patch;
  // Heads leave no trace in a file's shapes: published ViTs have them 64 wide.
  sizes.heads = vit.is_object() ? vit.value("heads", std::int64_t{1})
                                : std::max<std::int64_t>(1, sizes.width / 64);
  if (checkpoint.tensors.contains("fc_norm.weight")) sizes.classes = found.classes;
  return sizes;
}

std::vector<float> floats_of(const TensorView& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.numel()));
  with_cast_bytes(tensor, DType::kF32, [&](ByteSpan bytes) {
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  });
  return values;
}

// Every position but the class's has the patches' bias added to it anyway.
void move_bias_into_positions(TensorMap& tensors) {
  const auto bias = tensors.find(kPatchBias);
  if (bias == tensors.end()) return;
  const std::vector<float> add = floats_of(bias->second);
  TensorView& positions = tensors.at(kPositions);
  std::vector<float> values = floats_of(positions);
  for (std::size_t i = add.size(); i < values.size(); ++i) values[i] += add[i % add.size()];
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  positions = make_tensor(DType::kF32, positions.shape, std::move(bytes));
  tensors.erase(bias);
}

std::string timm_call(const VitSizes& s, bool norm_in_front) {
  return fmt::format(
      "timm.create_model('vit_base_patch16_224', img_size=({}, {}), patch_size={}, embed_dim={}, "
      "depth={}, num_heads={}, mlp_ratio={}, pre_norm={}, global_pool='{}', num_classes={})",
      s.height, s.picture_width, s.patch, s.width, s.depth, s.heads, s.mlp_ratio,
      norm_in_front ? "True" : "False", s.classes > 0 ? "avg" : "", s.classes);
}

std::string mae_call(const VitSizes& s) {
  return fmt::format(
      "models_vit.VisionTransformer(img_size={}, patch_size={}, embed_dim={}, depth={}, "
      "num_heads={}, mlp_ratio={}, qkv_bias=True, global_pool=True, "
      "norm_layer=partial(nn.LayerNorm, eps=1e-6))",
      s.height, s.patch, s.width, s.depth, s.heads, s.mlp_ratio);
}

bool belongs_to_encoder(const std::string& name, bool head) {
  const auto starts = [&](std::string_view prefix) { return name.starts_with(prefix); };
  if (head && (starts("fc_norm.") || starts("head."))) return true;
  return name == "cls_token" || name == kPositions || starts("patch_embed.proj.") ||
         starts("blocks.") || starts("norm.") || starts(kNormInFront);
}

}  // namespace

EncoderExport export_encoder(const Checkpoint& checkpoint, EncoderFormat format) {
  const VitSizes sizes = sizes_of(checkpoint);
  const bool timm = format == EncoderFormat::kTimm;
  if (!timm && sizes.height != sizes.picture_width) {
    throw DataError("{}: is for pictures of {}x{} pixels, and MAE's are square", checkpoint.path,
                    sizes.picture_width, sizes.height);
  }
  EncoderExport out;
  bool norm_in_front = false;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (!belongs_to_encoder(name, sizes.classes > 0)) continue;
    if (!name.starts_with(kNormInFront)) {
      out.tensors[name] = tensor;
    } else if (timm) {
      out.tensors["norm_pre." + name.substr(kNormInFront.size())] = tensor;
      norm_in_front = true;
    }
  }
  if (norm_in_front) move_bias_into_positions(out.tensors);
  out.kind = sizes.classes > 0 ? "classifier" : "encoder";
  out.call = timm ? timm_call(sizes, norm_in_front) : mae_call(sizes);
  return out;
}

ConvertReport export_encoder(const std::filesystem::path& in, const std::filesystem::path& out,
                             EncoderFormat format, std::optional<DType> floating) {
  const bool safetensors = out.extension() == ".safetensors";
  if (!safetensors && out.extension() != ".pth") {
    throw UsageError("{}: end the name in .pth, or for timm in .safetensors", out);
  }
  if (safetensors && format == EncoderFormat::kMae) {
    throw UsageError("{}: MAE's code reads .pth files; end the name in .pth", out);
  }
  const EncoderExport exported = export_encoder(open_checkpoint(in), format);
  if (safetensors) {
    write_safetensors(out, exported.tensors, {{"format", "pt"}, {"network", exported.call}},
                      floating);
  } else {
    write_torch_file(out, exported.tensors, "model", Json{{"network", exported.call}}, floating);
  }
  ConvertReport report;
  report.kind = exported.kind;
  report.tensors = exported.tensors.size();
  report.bytes_in = std::filesystem::file_size(in);
  report.bytes_out = std::filesystem::file_size(out);
  report.call = exported.call;
  return report;
}

}  // namespace addp
