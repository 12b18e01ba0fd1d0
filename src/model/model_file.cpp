#include "model/model_file.h"

#include <algorithm>
#include <cmath>

#include "base/version.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/layout/checkpoint.h"
#include "checkpoint/layout/recognise.h"
#include "checkpoint/named/find_model.h"

namespace addp {
namespace {

// Sizes far beyond what the tensors have room for would fill the memory before they are found out.
void require_plausible(const nlohmann::json& config, const ModelFile& file) {
  std::int64_t largest = 1 << 16;
  for (const auto& [name, tensor] : file.tensors) {
    for (const std::int64_t side : tensor.shape) largest = std::max(largest, side);
  }
  const auto layers = static_cast<std::int64_t>(std::max<std::size_t>(256, file.tensors.size()));
  const auto visit = [&](const auto& self, const std::string& name,
                         const nlohmann::json& value) -> void {
    if (value.is_structured()) {
      for (const auto& [key, inner] : value.items())
        self(self, value.is_array() ? name : key, inner);
    }
    if (!value.is_number()) return;
    const bool counts =
        name.ends_with("depth") || name.ends_with("blocks") || name.ends_with("convs");
    const auto limit = static_cast<double>(counts ? layers : largest);
    // Ids of categories are labels, not sizes.
    if (std::abs(value.get<double>()) <= limit || name == "category_ids") return;
    throw DataError(
        "{}: its stored configuration has '{}': {}, more than its tensors; it is damaged",
        file.source, name, value.get<double>());
  };
  visit(visit, "", config);
}

}  // namespace

ModelFile open_model(const std::filesystem::path& model,
                     std::initializer_list<std::string_view> kinds) {
  Checkpoint checkpoint = open_checkpoint(find_model(model, kinds));
  ModelFile file{.source = checkpoint.path.string()};
  if (auto own = own_metadata(checkpoint)) {
    file.converted = own->provenance.is_object() && own->provenance.contains("converted_from");
    file.kind = std::move(own->kind);
    if (!file.converted) file.config = std::move(own->config);
    file.provenance = std::move(own->provenance);
  }
  file.tensors = std::move(checkpoint.tensors);
  require_plausible(file.config, file);
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
  std::error_code ignored;  // what is wrong with the path, opening it tells
  const auto target =
      std::filesystem::is_directory(path, ignored) ? path / "model.safetensors" : path;
  write_safetensors(target, file.tensors, to_safetensors_metadata(own));
}

}  // namespace addp
