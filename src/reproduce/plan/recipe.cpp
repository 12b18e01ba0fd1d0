#include "reproduce/plan/recipe.h"

#include <filesystem>

#include "base/error.h"
#include "base/file/file_io.h"
#include "checkpoint/named/find_model.h"

namespace addp {

std::string recipe_text(const std::string& name) {
  for (const std::filesystem::path& folder : share_folders()) {
    const auto path = folder / "configs" / name;
    if (std::filesystem::exists(path)) return read_text_file(path);
  }
  throw RuntimeError("the recipe configs/{} is not beside the program; install it again", name);
}

}  // namespace addp
