// SHA-256 through libcrypto, for naming things by their content.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/file/file_io.h"

namespace addp {

// The digest of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(ByteSpan bytes);
  std::string hex();  // 64 lower-case digits; nothing can be added afterwards

 private:
  std::unique_ptr<void, void (*)(void*)> context_;
};

std::string sha256_hex(ByteSpan bytes);

// The digest of a file, read in pieces when it is first asked for. Copies share the answer, and
// several threads may ask.
class FileDigest {
 public:
  FileDigest() = default;
  explicit FileDigest(std::filesystem::path path);
  const std::string& hex() const;

 private:
  struct Answer;
  std::shared_ptr<Answer> answer_;
};

}  // namespace addp
