// Reading whole files, mapping them into memory, and writing them so that a kill or a full disk
// leaves the old file intact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace addp {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;
inline ByteSpan as_byte_span(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Reads a whole file; larger than `limit` bytes is a DataError.
Bytes read_file(const std::filesystem::path& path, std::uint64_t limit = std::uint64_t{1} << 32);
std::string read_text_file(const std::filesystem::path& path,
                           std::uint64_t limit = std::uint64_t{1} << 28);

// Reads a file from its beginning to its end, a MiB at a time.
void read_in_pieces(const std::filesystem::path& path, const std::function<void(ByteSpan)>& sink);

// A read-only memory map. Movable; the bytes stay valid as long as the object lives.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  ByteSpan bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

// Writes to a temporary file beside `path`; commit() flushes, fsyncs and renames it into
// place. Without commit() (an exception, for instance) the temporary file is removed and
// `path` is untouched.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(ByteSpan bytes);
  void write(std::string_view text);
  std::uint64_t written() const { return written_; }
  void commit();

 private:
  [[noreturn]] void fail(const char* what);
  void flush();

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
  std::vector<std::uint8_t> buffer_;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view text);
void write_file_atomically(const std::filesystem::path& path, ByteSpan bytes);

// Creates a folder with its parents; a RuntimeError names the folder if that fails.
void make_folder(const std::filesystem::path& path);
// The folder that a file will be written to, made before the work that leads to it. No name: none.
void make_folder_for(const std::filesystem::path& file);

}  // namespace addp
