#include "base/cache.h"

#include <cstdlib>
#include <vector>

#include "base/error.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

fs::path from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

}  // namespace

fs::path cache_folder() {
  const fs::path chosen = from_environment("XDG_CACHE_HOME");
  if (!chosen.empty()) return chosen / "addp";
  const fs::path home = from_environment("HOME");
  return (home.empty() ? fs::temp_directory_path() : home / ".cache") / "addp";
}

std::optional<fs::path> find_weights(const std::string& name, const fs::path& chosen) {
  if (!chosen.empty()) {
    if (!fs::is_regular_file(chosen)) throw DataError("{}: there is no such weights file", chosen);
    return chosen;
  }
  for (const fs::path& folder : {from_environment("ADDP_WEIGHTS"), cache_folder() / "weights"}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with(name) && file.ends_with(".safetensors")) return entry.path();
    }
  }
  return {};
}

}  // namespace addp
