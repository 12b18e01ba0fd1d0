#include "base/file/sha256.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

std::string hash_of(const std::string& text) {
  return sha256_hex({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// The examples of FIPS 180-4 and the lengths around the padding's edges.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesAndFilesGiveTheSameDigest) {
  const std::string text(2'500'000, 'a');  // more than two pieces of a file
  Sha256 digest;
  digest.add(as_byte_span(text).first(1));
  digest.add(as_byte_span(text).subspan(1, 0));
  digest.add(as_byte_span(text).subspan(1));
  EXPECT_EQ(digest.hex(), hash_of(text));
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "file";
  write_file_atomically(path, text);
  const FileDigest file(path), copy = file;
  EXPECT_EQ(file.hex(), hash_of(text));
  write_file_atomically(path, std::string_view("another"));
  EXPECT_EQ(copy.hex(), hash_of(text));  // asked once
  EXPECT_EQ(FileDigest(path).hex(), hash_of("another"));
  EXPECT_THROW(FileDigest(folder.path() / "none").hex(), DataError);
}

TEST(Sha256, EveryLengthDiffers) {
  std::string last;
  for (std::size_t length = 50; length < 70; ++length) {
    const std::string hash = hash_of(std::string(length, 'x'));
    EXPECT_EQ(hash.size(), 64U);
    EXPECT_NE(hash, last);
    last = hash;
  }
}

}  // namespace
}  // namespace addp
