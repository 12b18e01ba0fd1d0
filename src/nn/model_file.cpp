#include "nn/model_file.h"

#include <algorithm>

#include "checkpoint/checkpoint.h"
#include "checkpoint/safetensors.h"

namespace addp {
namespace {

constexpr const char* kKind = "addp.kind";
constexpr const char* kConfig = "addp.config";
constexpr const char* kProvenance = "addp.provenance";
constexpr const char* kVersion = "addp.version";
constexpr const char* kFormatVersion = "1";  // raised when an older program could misread a file

std::filesystem::path model_path(const std::filesystem::path& path) {
  return std::filesystem::is_directory(path) ? path / "model.safetensors" : path;
}

nlohmann::json parse_entry(const nlohmann::json& metadata, const char* key,
                           const std::string& source) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return nlohmann::json::object();
  const auto parsed =
      nlohmann::json::parse(found->is_string() ? found->get<std::string>() : std::string{},
                            /*callback=*/nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) throw DataError("{}: its entry '{}' is not a JSON object", source, key);
  return parsed;
}

}  // namespace

ModelFile open_model(const std::filesystem::path& path) {
  Checkpoint checkpoint = open_checkpoint(model_path(path));
  ModelFile file;
  file.source = checkpoint.path.string();
  file.tensors = std::move(checkpoint.tensors);
  const nlohmann::json& metadata = checkpoint.metadata;
  if (checkpoint.format != "safetensors" || !metadata.contains(kKind)) return file;
  if (metadata.value(kVersion, "") != kFormatVersion) {
    throw DataError("{}: model format '{}' is not known here (this program reads '{}'): update it",
                    file.source, metadata.value(kVersion, ""), kFormatVersion);
  }
  file.kind = metadata.value(kKind, "");
  file.config = parse_entry(metadata, kConfig, file.source);
  file.provenance = parse_entry(metadata, kProvenance, file.source);
  return file;
}

void require_kind(const ModelFile& file, std::initializer_list<std::string_view> kinds) {
  if (file.foreign()) return;
  if (std::find(kinds.begin(), kinds.end(), file.kind) != kinds.end()) return;
  throw DataError("{} holds a model of kind '{}' where '{}' is needed: give another file",
                  file.source, file.kind, *kinds.begin());
}

void save_model(const std::filesystem::path& path, const ModelFile& file) {
  write_safetensors(model_path(path), file.tensors,
                    {{kKind, file.kind},
                     {kConfig, file.config.dump()},
                     {kProvenance, file.provenance.dump()},
                     {kVersion, kFormatVersion}});
}

TensorMap below(const TensorMap& tensors, const std::string& prefix) {
  TensorMap found;
  for (auto it = tensors.lower_bound(prefix); it != tensors.end() && it->first.starts_with(prefix);
       ++it) {
    found.emplace(it->first.substr(prefix.size()), it->second);
  }
  return found;
}

}  // namespace addp
