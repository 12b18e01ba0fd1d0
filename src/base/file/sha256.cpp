#include "base/file/sha256.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <mutex>

#include "base/error.h"

namespace addp {
namespace {

void require(bool worked) {
  if (!worked) throw RuntimeError("libcrypto cannot compute SHA-256 here; is its library intact?");
}

}  // namespace

Sha256::Sha256()
    : context_(EVP_MD_CTX_new(),
               [](void* made) { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(made)); }) {
  require(context_ != nullptr &&
          EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_.get()), EVP_sha256(), nullptr) == 1);
}

void Sha256::add(ByteSpan bytes) {
  require(EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_.get()), bytes.data(), bytes.size()) ==
          1);
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> digest{};
  require(EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_.get()), digest.data(), nullptr) ==
          1);
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string sha256_hex(ByteSpan bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.hex();
}

struct FileDigest::Answer {
  std::filesystem::path path;
  std::once_flag once;
  std::string hex;
};

FileDigest::FileDigest(std::filesystem::path path) : answer_(std::make_shared<Answer>()) {
  answer_->path = std::move(path);
}

const std::string& FileDigest::hex() const {
  std::call_once(answer_->once, [this] {
    Sha256 digest;
    read_in_pieces(answer_->path, [&](ByteSpan piece) { digest.add(piece); });
    answer_->hex = digest.hex();
  });
  return answer_->hex;
}

}  // namespace addp
