#include "commands/picture_inputs.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "image/codec.h"

namespace addp {
namespace {

bool looks_like_picture(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg" || extension == ".webp";
}

std::vector<std::filesystem::path> pictures_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && looks_like_picture(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  if (found.empty()) throw DataError("{}: holds no JPEG, PNG or WebP pictures", folder);
  return found;
}

}  // namespace

PictureInputs::PictureInputs(const std::vector<std::string>& paths) {
  for (const std::filesystem::path path : paths) {
    if (std::filesystem::is_directory(path)) {
      for (auto& file : pictures_below(path)) files_.push_back(std::move(file));
    } else if (std::filesystem::exists(path)) {
      files_.push_back(path);
    } else {
      throw DataError("{}: there is no such picture or folder", path);
    }
  }
  std::set<std::string> taken;
  for (const auto& file : files_) {
    const std::string stem = file.stem().string();
    std::string name = stem;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}", stem, i);
    stems_.push_back(name);
  }
}

PictureInput PictureInputs::load(std::size_t index) const {
  return {files_[index].string(), stems_[index], load_image(files_[index])};
}

}  // namespace addp
