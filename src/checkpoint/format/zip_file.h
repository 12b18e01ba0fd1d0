// The directory of a zip file, as far as torch.save and its imitators use the format: stored and
// deflated records, zip64. (libarchive reads zip as a stream; here the records must be found by
// name and stay in the mapped file.) Layout: PKWARE's APPNOTE.TXT 6.3, sections 4.3.7 to 4.3.16.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/file/file_io.h"

namespace addp {

struct ZipRecord {
  std::uint64_t header = 0;  // of the record's own header in the file
  std::uint64_t offset = 0;  // of the record's bytes in the file
  std::uint64_t stored_size = 0, size = 0;
  std::uint32_t checksum = 0;  // CRC-32; 0 where the writer kept none
  bool deflated = false;
};

struct ZipContent {
  ByteSpan bytes;
  std::shared_ptr<const void> owner;
};

class ZipFile {
 public:
  // `owner` keeps `bytes` alive; `name` is what errors name.
  ZipFile(ByteSpan bytes, std::shared_ptr<const void> owner, std::string name);

  const std::map<std::string, ZipRecord>& records() const { return records_; }
  bool contains(const std::string& record) const { return records_.contains(record); }
  // The record's content: a part of the file where stored, a buffer where deflated. `verify`
  // compares the checksum. A DataError names the file and the record.
  ZipContent read(const std::string& record, bool verify);

  // Whether the bytes start like a zip file.
  static bool looks_like_zip(ByteSpan bytes);

 private:
  struct Directory {
    std::uint64_t offset = 0, size = 0, count = 0;
  };
  Directory find_directory() const;
  Directory read_zip64_directory(std::uint64_t end_record) const;
  void read_directory(const Directory& directory);
  void locate(ZipRecord& record, std::uint64_t limit, const std::string& record_name) const;
  void check_overlap() const;
  ZipContent inflate(const ZipRecord& record, const std::string& record_name);

  ByteSpan bytes_;
  std::shared_ptr<const void> owner_;
  std::string name_;
  std::map<std::string, ZipRecord> records_;
  std::uint64_t inflate_budget_;
};

}  // namespace addp
