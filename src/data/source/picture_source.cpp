#include "data/source/picture_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "image/codec/codec.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kHeadBytes = 512;  // a tar header; more than any picture format needs

Bytes file_head(const fs::path& path, std::size_t count) {
  const MappedFile file(path);  // which refuses pipes instead of waiting for them
  const ByteSpan head = file.bytes().first(std::min(count, file.bytes().size()));
  return {head.begin(), head.end()};
}

// Files on disk, named by a folder, a list or on their own.
class DiskSource final : public PictureSource {
 public:
  DiskSource(SourceKind kind, const fs::path& given, fs::path root, const SourceLimits& limits)
      : PictureSource(kind, given.string()), root_(std::move(root)), limits_(limits) {}

  std::string describe(std::size_t index) const override { return file(index).string(); }
  FileBytes read(std::size_t index) const override {
    return FileBytes::own(read_file(file(index), limits_.max_entry_bytes));
  }
  Bytes head(std::size_t index, std::size_t count) const override {
    return file_head(file(index), count);
  }
  void set(std::vector<std::string> names, std::vector<std::string> classes = {}) {
    names_ = std::move(names);
    list_classes_ = std::move(classes);
  }

 private:
  fs::path file(std::size_t index) const { return root_ / names_.at(index); }

  fs::path root_;
  SourceLimits limits_;
};

// Collects the files below `folder`. `seen` holds the real paths of the folders above, against
// loops of links.
void walk_folder(const fs::path& folder, const std::string& prefix, std::set<fs::path>& seen,
                 std::vector<std::string>& names, const SourceLimits& limits) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || !seen.insert(real).second) return;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = clean_entry_name(it->path().filename().string());
    if (name.empty()) continue;
    std::error_code ignored;
    if (it->is_directory(ignored)) {
      walk_folder(it->path(), prefix + name + "/", seen, names, limits);
    } else if (it->is_regular_file(ignored)) {
      if (names.size() >= limits.max_entries) {
        throw DataError("{}: holds more than {} files", folder, limits.max_entries);
      }
      names.push_back(prefix + name);
    }
  }
  seen.erase(real);
  if (error) throw DataError("{}: cannot be listed: {}", folder, error.message());
}

bool looks_like_text(ByteSpan head) {
  return std::none_of(head.begin(), head.end(), [](std::uint8_t c) {
    return c < 0x20 && c != '\n' && c != '\r' && c != '\t';
  });
}

bool is_class_number(std::string_view text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

FileBytes FileBytes::own(Bytes bytes) {
  auto owner = std::make_shared<const Bytes>(std::move(bytes));
  return {ByteSpan(*owner), owner};
}

std::optional<std::size_t> PictureSource::find(std::string_view name) const {
  if (kind_ == SourceKind::kList) {
    const auto it = std::find(names_.begin(), names_.end(), name);
    if (it == names_.end()) return std::nullopt;
    return static_cast<std::size_t>(it - names_.begin());
  }
  const auto it = std::lower_bound(names_.begin(), names_.end(), name);
  if (it == names_.end() || *it != name) return std::nullopt;
  return static_cast<std::size_t>(it - names_.begin());
}

std::string clean_entry_name(std::string_view name) {
  std::string clean;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    name = slash == std::string_view::npos ? std::string_view() : name.substr(slash + 1);
    if (part.empty() || part == ".") continue;
    if (part.front() == '.' || part == "__MACOSX") return {};
    if (!clean.empty()) clean += '/';
    clean += part;
  }
  return clean;
}

bool looks_like_archive(ByteSpan head) {
  const auto starts = [&](std::size_t at, std::initializer_list<int> magic) {
    if (head.size() < at + magic.size()) return false;
    return std::equal(magic.begin(), magic.end(), head.begin() + static_cast<std::ptrdiff_t>(at));
  };
  return starts(257, {'u', 's', 't', 'a', 'r'}) || starts(0, {0x1f, 0x8b}) ||
         starts(0, {'P', 'K', 3, 4}) || starts(0, {'P', 'K', 5, 6}) || starts(0, {'B', 'Z', 'h'}) ||
         starts(0, {0xfd, '7', 'z', 'X', 'Z', 0}) || starts(0, {0x28, 0xb5, 0x2f, 0xfd});
}

bool is_archive(const fs::path& file) { return looks_like_archive(file_head(file, kHeadBytes)); }

bool is_called_picture(std::string_view name) {
  static const std::set<std::string, std::less<>> pictures{"jpg",  "jpeg", "png",
                                                           "webp", "jpe",  "jfif"};
  return pictures.contains(lower_extension(name));
}

bool is_picture(const PictureSource& source, std::size_t index) {
  static const std::set<std::string, std::less<>> others{
      "txt", "json", "jsonl", "md",  "csv", "tsv", "xml", "yaml", "yml", "toml", "html",
      "py",  "sh",   "log",   "npy", "npz", "mat", "bin", "tar",  "zip", "gz",   "pkl"};
  const std::string extension = lower_extension(source.names()[index]);
  if (is_called_picture(source.names()[index])) return true;
  if (others.contains(extension)) return false;
  try {
    return sniff_image_format(source.head(index, kHeadBytes)) != ImageFormat::kUnknown;
  } catch (const DataError&) {
    return false;  // what may not be read and is not called a picture is none
  }
}

std::shared_ptr<const PictureSource> open_folder(const fs::path& path, const SourceLimits& limits) {
  auto source = std::make_shared<DiskSource>(SourceKind::kFolder, path, path, limits);
  std::vector<std::string> names;
  std::set<fs::path> seen;
  walk_folder(path, "", seen, names, limits);
  std::sort(names.begin(), names.end());
  source->set(std::move(names));
  return source;
}

std::vector<ListLine> parse_file_list(std::string_view text, const std::string& name,
                                      const SourceLimits& limits) {
  std::vector<ListLine> lines;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.empty() || line.front() == '#') continue;
    if (line.find('\0') != std::string_view::npos || line.size() > 4096) {
      throw DataError("{}: line {} is not the path of a file; a list has one path a line", name,
                      number);
    }
    if (lines.size() >= limits.max_entries) {
      throw DataError("{}: has more than {} lines", name, limits.max_entries);
    }
    const std::size_t tab = line.rfind('\t'), blank = line.rfind(' ');
    if (tab != std::string_view::npos) {
      lines.push_back({std::string(trim(line.substr(0, tab))), std::string(line.substr(tab + 1))});
    } else if (blank != std::string_view::npos && is_class_number(line.substr(blank + 1))) {
      lines.push_back(
          {std::string(trim(line.substr(0, blank))), std::string(line.substr(blank + 1))});
    } else {
      lines.push_back({std::string(line), {}});
    }
  }
  return lines;
}

std::shared_ptr<const PictureSource> open_list(const fs::path& path, const SourceLimits& limits) {
  const std::string text = read_text_file(path);
  std::vector<ListLine> lines = parse_file_list(text, path.string(), limits);
  if (lines.empty()) throw DataError("{}: the file list is empty; write one path per line", path);
  std::vector<std::string> names, classes;
  bool any_class = false;
  for (ListLine& line : lines) {
    any_class = any_class || !line.class_name.empty();
    names.push_back(std::move(line.path));
    classes.push_back(std::move(line.class_name));
  }
  if (!any_class) classes.clear();
  auto source = std::make_shared<DiskSource>(SourceKind::kList, path, path.parent_path(), limits);
  source->set(std::move(names), std::move(classes));
  return source;
}

std::shared_ptr<const PictureSource> open_source(const fs::path& path, const SourceLimits& limits) {
  std::error_code error;
  if (is_shard_pattern(path.string())) return open_shards(path.string(), limits);
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw DataError(
        "{}: does not exist; give a folder, a file list, an archive, shards or a picture", path);
  }
  if (fs::is_directory(status)) return open_folder(path, limits);
  if (!fs::is_regular_file(status)) {
    throw DataError("{}: is neither a folder nor a regular file", path);
  }
  const Bytes head = file_head(path, kHeadBytes);
  if (sniff_image_format(head) != ImageFormat::kUnknown) {
    auto source =
        std::make_shared<DiskSource>(SourceKind::kPicture, path, path.parent_path(), limits);
    source->set({path.filename().string()});
    return source;
  }
  if (looks_like_archive(head)) {
    auto archive = open_archive(path, limits);
    return has_class_members(*archive) ? join_shards(path.string(), {archive}) : archive;
  }
  if (head.empty()) throw DataError("{}: is empty", path);
  if (is_called_picture(path.string())) {
    throw DataError("{}: is called a picture, but is neither JPEG, PNG nor WebP", path);
  }
  if (looks_like_text(head)) return open_list(path, limits);
  throw DataError(
      "{}: is no folder, picture, file list or tar/zip archive; its first bytes are none that the "
      "program knows",
      path);
}

}  // namespace addp
