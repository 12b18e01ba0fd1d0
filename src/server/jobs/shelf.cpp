#include "server/jobs/shelf.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "checkpoint/layout/recognise_kinds.h"
#include "checkpoint/model_kind.h"
#include "checkpoint/named/find_model.h"
#include "generate/trajectory.h"
#include "heads/classify/classifier_file.h"
#include "heads/detect/detector_file.h"
#include "heads/segment/segmenter_file.h"
#include "machine/machine.h"
#include "model/model_file.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"
#include "server/http/http_error.h"

namespace addp {
namespace {

// "runs/addp" and "runs/addp/model.safetensors" are both "addp"; the name of a model stays.
std::string name_of(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return path.string();
  const auto clean = std::filesystem::path(path.string()).lexically_normal();
  const auto last = clean.has_filename() ? clean : clean.parent_path();
  if (last.filename() == "model.safetensors" && last.has_parent_path()) {
    return last.parent_path().filename().string();
  }
  return std::filesystem::is_directory(last) ? last.filename().string() : last.stem().string();
}

std::string kind_of(const std::filesystem::path& path) {
  const ModelFile file = open_model(path);
  return file.foreign() ? find_kind(file.tensors).kind : file.kind;
}

std::vector<std::uint8_t> palette_of(const Generator& generator) {
  const Tensor colors =
      to_bytes(principal_colors(generator.tokenizer().codebook())).cpu().contiguous();
  const auto* data = colors.data_ptr<std::uint8_t>();
  return {data, data + colors.numel()};
}

void read_generator(HostedModel& model, bool bf16) {
  model.generator = std::make_unique<Generator>(Generator::open_for(bf16, model.path));
  model.generator->source_digest();  // now, because requests ask for it from several threads
  model.palette = palette_of(*model.generator);
  model.encoder = open_feature_encoder(model.path);
}

// False for a kind that nothing can be asked of.
bool read_model(HostedModel& model, ModelKind kind, bool bf16) {
  switch (kind) {
    case ModelKind::kAddp:
    case ModelKind::kPredictor:
      read_generator(model, bf16);
      return true;
    case ModelKind::kClassifier:
      model.classifier = load_classifier(model.path);
      model.encoder = open_feature_encoder(model.path);
      return true;
    case ModelKind::kDetector:
      model.detector = load_detector(model.path);
      return true;
    case ModelKind::kSegmenter:
      model.segmenter = load_segmenter(model.path);
      return true;
    case ModelKind::kTokenizer:
      return false;
  }
  return false;
}

}  // namespace

std::vector<std::string> HostedModel::class_names() const {
  if (generator) return generator->class_names();
  if (detector) return detector->config().class_names;
  if (segmenter) return segmenter->config().class_names;
  if (!classifier) return {};
  std::vector<std::string> names = classifier->config().class_names;
  for (auto i = static_cast<std::int64_t>(names.size()); i < classifier->config().classes; ++i) {
    names.push_back(fmt::format("class {}", i));
  }
  return names;
}

Shelf::Shelf(const std::vector<std::filesystem::path>& paths, bool bf16) {
  for (const auto& path : paths) {
    if (add(path, name_of(path), bf16)) continue;
    throw UsageError(
        "{}: a {} cannot be served; give an ADDP model, a predictor, a classifier, a detector or a "
        "segmenter",
        path, kind_of(path));
  }
  if (!paths.empty()) return;
  for (const NamedModel& model : named_models()) add(model.file, model.name(), bf16);
  if (models_.empty()) {
    throw UsageError("there are no models to serve in {}; give one with --model",
                     fmt::join(model_folders(), ", "));
  }
}

std::string Shelf::free_name(const std::string& wanted, const std::string& kind) const {
  const auto taken = [&](const std::string& name) {
    return std::any_of(models_.begin(), models_.end(),
                       [&](const auto& model) { return model->name == name; });
  };
  if (!taken(wanted)) return wanted;
  std::string name = wanted + "-" + kind;
  for (int i = 2; taken(name); ++i) name = fmt::format("{}-{}-{}", wanted, kind, i);
  return name;
}

bool Shelf::add(const std::filesystem::path& path, const std::string& name, bool bf16) {
  auto model = std::make_unique<HostedModel>();
  model->kind = kind_of(path);
  model->path = path;
  model->name = free_name(name, model->kind);
  const auto kind = model_kind(model->kind);
  if (!kind || !read_model(*model, *kind, bf16)) return false;
  models_.push_back(std::move(model));
  return true;
}

const HostedModel& Shelf::find(const std::string& name, bool (*can)(const HostedModel&),
                               const char* what) const {
  std::string able;
  for (const auto& model : models_) {
    if (!can(*model)) continue;
    if (name.empty() || model->name == name) return *model;
    able += (able.empty() ? "" : ", ") + model->name;
  }
  if (able.empty()) {
    throw HttpError(404, "no model here can {}; start the server with one (--model)", what);
  }
  throw HttpError(404, "no model '{}' here can {}; there is {}", name, what, able);
}

}  // namespace addp
