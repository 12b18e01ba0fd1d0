#include "weights/find_weights.h"

#include <algorithm>

#include "base/error.h"
#include "base/file/cache.h"

namespace addp {
namespace fs = std::filesystem;

std::optional<fs::path> find_weights(const std::string& name, const fs::path& chosen) {
  if (!chosen.empty()) {
    std::error_code error;
    if (!fs::is_regular_file(chosen, error))
      throw DataError("{}: there is no such weights file", chosen);
    return chosen;
  }
  for (const fs::path& folder : {environment_path("ADDP_WEIGHTS"), cache_folder() / "weights"}) {
    std::optional<fs::path> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with(name) || !file.ends_with(".safetensors")) continue;
      if (found) {
        const auto [first, second] = std::minmax(*found, entry.path());
        throw DataError(
            "{}: {} and {} could both be the {} network; keep one of them there or name its file",
            folder, first.filename(), second.filename(), name);
      }
      found = entry.path();
    }
    if (found) return found;
  }
  return {};
}

}  // namespace addp
