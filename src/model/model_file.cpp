#include "model/model_file.h"

#include <algorithm>

#include "base/version.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/layout/checkpoint.h"
#include "checkpoint/layout/recognise.h"

namespace addp {
namespace {

std::filesystem::path model_path(const std::filesystem::path& path) {
  return std::filesystem::is_directory(path) ? path / "model.safetensors" : path;
}

}  // namespace

ModelFile open_model(const std::filesystem::path& path) {
  Checkpoint checkpoint = open_checkpoint(model_path(path));
  ModelFile file{.source = checkpoint.path.string()};
  if (auto own = own_metadata(checkpoint)) {
    file.converted = own->provenance.is_object() && own->provenance.contains("converted_from");
    file.kind = std::move(own->kind);
    if (!file.converted) file.config = std::move(own->config);
    file.provenance = std::move(own->provenance);
  }
  file.tensors = std::move(checkpoint.tensors);
  return file;
}

void require_kind(const ModelFile& file, std::initializer_list<std::string_view> kinds) {
  if (file.kind.empty()) return;
  if (std::find(kinds.begin(), kinds.end(), file.kind) != kinds.end()) return;
  throw DataError("{} holds a model of kind '{}' where '{}' is needed: give another file",
                  file.source, file.kind, *kinds.begin());
}

void save_model(const std::filesystem::path& path, const ModelFile& file,
                const std::string& provenance) {
  const OwnMetadata own{.kind = file.kind,
                        .version = std::string(version()),
                        .config = file.config,
                        .provenance = nlohmann::json::parse(provenance)};
  write_safetensors(model_path(path), file.tensors, to_safetensors_metadata(own));
}

}  // namespace addp
