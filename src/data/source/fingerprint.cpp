#include "data/source/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/file/sha256.h"
#include "data/source/picture_source.h"

namespace addp {
namespace {

namespace fs = std::filesystem;

void add_file(std::string& text, const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  text += fmt::format("{} {} {}\n", path.string(), size, time);
}

std::vector<fs::path> files_below(const fs::path& folder) {
  constexpr auto kRules = fs::directory_options::follow_directory_symlink |
                          fs::directory_options::skip_permission_denied;
  std::vector<fs::path> files;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, kRules, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) files.push_back(fs::absolute(entry->path(), ignored));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string fingerprint(const std::string& data) {
  std::error_code error;
  const bool shards = is_shard_pattern(data);
  if (!shards && !fs::exists(data, error)) return data;
  std::string text;
  if (shards) {
    for (const auto& file : expand_shards(data)) add_file(text, fs::absolute(file, error));
  } else if (fs::is_directory(data, error)) {
    for (const auto& file : files_below(data)) add_file(text, file);
  } else {
    add_file(text, fs::absolute(data, error));
    if (!is_archive(data)) {
      const auto source = open_source(data);
      for (std::size_t i = 0; i < source->size(); ++i) add_file(text, source->describe(i));
    }
  }
  return sha256_hex(as_byte_span(text));
}

}  // namespace addp
