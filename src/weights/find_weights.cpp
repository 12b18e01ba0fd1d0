#include "weights/find_weights.h"

#include "base/cache.h"
#include "base/error.h"

namespace addp {
namespace fs = std::filesystem;

std::optional<fs::path> find_weights(const std::string& name, const fs::path& chosen) {
  if (!chosen.empty()) {
    if (!fs::is_regular_file(chosen)) throw DataError("{}: there is no such weights file", chosen);
    return chosen;
  }
  for (const fs::path& folder : {environment_path("ADDP_WEIGHTS"), cache_folder() / "weights"}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with(name) && file.ends_with(".safetensors")) return entry.path();
    }
  }
  return {};
}

}  // namespace addp
