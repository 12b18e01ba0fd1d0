#include "base/file/cache.h"

#include <cstdlib>

namespace addp {
namespace fs = std::filesystem;

fs::path environment_path(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

fs::path cache_folder() {
  const fs::path chosen = environment_path("XDG_CACHE_HOME");
  if (!chosen.empty()) return chosen / "addp";
  const fs::path home = environment_path("HOME");
  return (home.empty() ? fs::temp_directory_path() : home / ".cache") / "addp";
}

}  // namespace addp
