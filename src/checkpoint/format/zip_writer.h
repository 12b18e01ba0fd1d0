// Writes a zip file the way torch.save does: records stored as they are, each starting at a
// multiple of 64 bytes so that readers can map them. Atomic: nothing is seen before commit().
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/file_io.h"

namespace addp {

class ZipWriter {
 public:
  // `zip64` writes the 64-bit fields even where 32 bits are enough.
  explicit ZipWriter(const std::filesystem::path& path, bool zip64 = false)
      : file_(path), zip64_(zip64) {}

  void add(const std::string& name, ByteSpan bytes);
  void add(const std::string& name, std::string_view text);
  void commit();

 private:
  struct Entry {
    std::string name;
    std::uint64_t header, size;
    std::uint32_t checksum;
  };
  std::string directory_entry(const Entry& entry) const;

  AtomicFile file_;
  bool zip64_;
  std::vector<Entry> entries_;
};

}  // namespace addp
