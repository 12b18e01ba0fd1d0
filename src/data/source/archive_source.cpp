// Archives through libarchive, over one memory map of the file.
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/run/progress.h"
#include "data/source/picture_source.h"

namespace addp {
namespace {

std::uint64_t half_of_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return std::uint64_t{4} << 30;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) / 2;
}

// libarchive converts names to the thread's locale and loses those that do not fit: UTF-8 fits all.
class Utf8Locale {
 public:
  Utf8Locale() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {
    if (locale_ != locale_t{}) before_ = ::uselocale(locale_);
  }
  ~Utf8Locale() {
    if (locale_ == locale_t{}) return;
    ::uselocale(before_);
    ::freelocale(locale_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t locale_, before_{};
};

class ArchiveSource final : public PictureSource {
 public:
  ArchiveSource(FileBytes bytes, const std::string& name)
      : PictureSource(SourceKind::kArchive, name), archive_(std::move(bytes)) {}

  std::string describe(std::size_t index) const override { return path_ + ": " + names_.at(index); }
  FileBytes read(std::size_t index) const override { return members_.at(index); }
  Bytes head(std::size_t index, std::size_t count) const override {
    const ByteSpan view = members_.at(index).view;
    const ByteSpan part = view.first(std::min(count, view.size()));
    return Bytes(part.begin(), part.end());
  }

 private:
  friend class ArchiveReader;
  FileBytes archive_;
  std::vector<FileBytes> members_;
};

class ArchiveReader {
 public:
  ArchiveReader(ArchiveSource& out, const SourceLimits& limits)
      : out_(out), limits_(limits), handle_(archive_read_new(), &archive_read_free) {
    if (limits_.max_unpacked_bytes == 0) limits_.max_unpacked_bytes = half_of_memory();
    archive* a = handle_.get();
    if (a == nullptr) throw RuntimeError("{}: out of memory", out_.path_);
    archive_read_support_format_tar(a);
    archive_read_support_format_zip(a);
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_zstd(a);
    const ByteSpan bytes = out_.archive_.view;
    if (archive_read_open_memory(a, bytes.data(), bytes.size()) != ARCHIVE_OK) fail("opened");
  }

  void read_all() {
    for (archive_entry* entry = nullptr;;) {
      const int status = archive_read_next_header(handle_.get(), &entry);
      if (status == ARCHIVE_EOF) break;
      if (status < ARCHIVE_WARN) fail("read");
      if (++count_ > limits_.max_entries) {
        throw DataError("{}: holds more than {} files", out_.path_, limits_.max_entries);
      }
      read_entry(entry);
    }
    publish();
  }

 private:
  [[noreturn]] void fail(const char* what) {
    const char* reason = archive_error_string(handle_.get());
    throw DataError("{}: the archive cannot be {} behind '{}': {}; is it complete?", out_.path_,
                    what, last_name_, reason != nullptr ? reason : "unknown reason");
  }

  static std::string entry_name(archive_entry* entry) {
    const char* name = archive_entry_pathname_utf8(entry);
    if (name == nullptr) name = archive_entry_pathname(entry);
    return name != nullptr ? clean_entry_name(name) : std::string();
  }

  void read_entry(archive_entry* entry) {
    const std::string name = entry_name(entry);
    if (name.empty()) return;
    last_name_ = name;
    if (const char* target = archive_entry_hardlink(entry)) {
      const auto found = members_.find(clean_entry_name(target));
      if (found != members_.end()) members_.insert_or_assign(name, FileBytes(found->second));
      return;
    }
    if (archive_entry_filetype(entry) != AE_IFREG) return;
    if (archive_entry_is_data_encrypted(entry) != 0) {
      throw DataError("{}: '{}' is encrypted; unpack the archive with its password", out_.path_,
                      name);
    }
    const std::uint64_t size =
        archive_entry_size_is_set(entry) != 0
            ? static_cast<std::uint64_t>(std::max<la_int64_t>(archive_entry_size(entry), 0))
            : 0;
    // A later member replaces an earlier one.
    members_.insert_or_assign(name, read_data(name, size));
  }

  FileBytes read_data(const std::string& name, std::uint64_t announced) {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    int status = archive_read_data_block(handle_.get(), &data, &size, &offset);
    if (status == ARCHIVE_OK && offset == 0 && size == announced && in_map(data, size)) {
      return {ByteSpan(static_cast<const std::uint8_t*>(data), size), out_.archive_.owner};
    }
    Bytes bytes;
    while (status == ARCHIVE_OK || status == ARCHIVE_WARN) {
      append(name, bytes, data, size, offset);
      status = archive_read_data_block(handle_.get(), &data, &size, &offset);
    }
    if (status != ARCHIVE_EOF) fail("read");
    bytes.shrink_to_fit();
    return FileBytes::own(std::move(bytes));
  }

  // Sparse members have gaps, which read as zeros.
  void append(const std::string& name, Bytes& bytes, const void* data, std::size_t size,
              la_int64_t offset) {
    const std::uint64_t start = offset < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(offset);
    if (start < bytes.size() || start > limits_.max_entry_bytes ||
        size > limits_.max_entry_bytes - start) {
      throw DataError("{}: '{}' is larger than {}", out_.path_, name,
                      format_bytes(limits_.max_entry_bytes));
    }
    const std::uint64_t grown = start + size - bytes.size();
    if (grown > limits_.max_unpacked_bytes - unpacked_) {
      throw DataError(
          "{}: unpacks to more than the {} that may be held in memory; unpack it into a folder, or "
          "repack it as plain .tar, which is used in place",
          out_.path_, format_bytes(limits_.max_unpacked_bytes));
    }
    unpacked_ += grown;
    if (start + size > bytes.capacity()) {
      bytes.reserve(std::max<std::uint64_t>(start + size, 2 * bytes.capacity()));
    }
    bytes.resize(start);
    const auto* first = static_cast<const std::uint8_t*>(data);
    bytes.insert(bytes.end(), first, first + size);
  }

  bool in_map(const void* data, std::size_t size) const {
    const ByteSpan map = out_.archive_.view;
    const auto* first = static_cast<const std::uint8_t*>(data);
    const std::less_equal<const std::uint8_t*> not_after;
    return first != nullptr && not_after(map.data(), first) &&
           not_after(first + size, map.data() + map.size());
  }

  void publish() {
    out_.names_.reserve(members_.size());
    for (const auto& [name, bytes] : members_) out_.names_.push_back(name);
    std::sort(out_.names_.begin(), out_.names_.end());
    out_.members_.reserve(out_.names_.size());
    for (const std::string& name : out_.names_) {
      out_.members_.push_back(std::move(members_.at(name)));
    }
  }

  ArchiveSource& out_;
  SourceLimits limits_;
  std::unique_ptr<archive, decltype(&archive_read_free)> handle_;
  std::unordered_map<std::string, FileBytes> members_;
  std::uint64_t count_ = 0, unpacked_ = 0;
  std::string last_name_ = "the start";
};

}  // namespace

std::shared_ptr<const PictureSource> open_archive_bytes(FileBytes bytes, const std::string& name,
                                                        const SourceLimits& limits) {
  const Utf8Locale locale;
  auto source = std::make_shared<ArchiveSource>(std::move(bytes), name);
  ArchiveReader(*source, limits).read_all();
  return source;
}

std::shared_ptr<const PictureSource> open_archive(const std::filesystem::path& path,
                                                  const SourceLimits& limits) {
  auto map = std::make_shared<const MappedFile>(path);
  return open_archive_bytes({map->bytes(), map}, path.string(), limits);
}

}  // namespace addp
