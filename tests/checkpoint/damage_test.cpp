// Truncated, flipped and wrong files: a DataError that names the file, never a crash.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "checkpoint/format/safetensors.h"
#include "checkpoint/layout/checkpoint.h"
#include "checkpoint/layout/recognise.h"
#include "checkpoint/pickle/torch_writer.h"
#include "checkpoint/python.h"

namespace addp {
namespace {

using testing::TemporaryFolder;

TensorMap sample() {
  return {{"a.weight", make_tensor(DType::kF32, {4, 4}, Bytes(64, 1))},
          {"a.bias", make_tensor(DType::kF16, {4}, Bytes(8, 2))}};
}

Checkpoint parse(ByteSpan bytes) { return parse_checkpoint(bytes, nullptr, "dir/some.pth"); }

void expect_refusal(ByteSpan bytes, const std::string& part) {
  try {
    parse(bytes);
    ADD_FAILURE() << "accepted; expected: " << part;
  } catch (const DataError& error) {
    EXPECT_EQ(std::string(error.what()).find("dir/some.pth: "), 0u) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

void expect_refusal(const std::string& text, const std::string& part) {
  expect_refusal(ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), part);
}

TEST(Damage, EveryTruncation) {
  const TemporaryFolder scratch;
  write_torch_file(scratch / "a.pth", sample());
  const Bytes whole = read_file(scratch / "a.pth");
  ASSERT_NO_THROW(parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse(ByteSpan(whole).first(size)), DataError) << size;
  }
}

// Checksums cover all numbers, so a flipped bit is refused or changes nothing.
TEST(Damage, EveryFlippedBitOfAZip) {
  const TemporaryFolder scratch;
  write_torch_file(scratch / "a.pth", sample());
  Bytes bytes = read_file(scratch / "a.pth");
  const TensorMap expected = sample();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::uint8_t>(1 << (bit % 8));
    bytes[bit / 8] ^= mask;
    try {
      const Checkpoint checkpoint = parse(bytes);
      ASSERT_EQ(checkpoint.tensors.size(), expected.size()) << bit;
      for (const auto& [name, tensor] : checkpoint.tensors) {
        ASSERT_EQ(tensor.contiguous_bytes(), expected.at(name).contiguous_bytes()) << bit;
      }
    } catch (const DataError& error) {
      ASSERT_EQ(std::string(error.what()).find("dir/some.pth: "), 0u) << error.what();
    }
    bytes[bit / 8] ^= mask;
  }
}

TEST(Damage, RandomFlipsOfSafetensors) {
  const TemporaryFolder scratch;
  write_safetensors(scratch / "a.safetensors", sample(),
                    {{"addp.kind", "addp"}, {"addp.config", "{}"}});
  const Bytes whole = read_file(scratch / "a.safetensors");
  RandomStream random(1, "flips");
  for (int round = 0; round < 5000; ++round) {
    Bytes bytes = whole;
    for (int flips = 0; flips < 3; ++flips) {
      bytes[static_cast<std::size_t>(
          random.integer(0, static_cast<std::int64_t>(bytes.size()) - 1))] ^=
          static_cast<std::uint8_t>(1 << random.integer(0, 7));
    }
    try {
      recognise(parse(bytes));
    } catch (const DataError&) {
    }
  }
}

TEST(Damage, LookalikesAreCalledByTheirName) {
  expect_refusal("", "empty");
  expect_refusal("version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "git lfs pull");
  expect_refusal("<!DOCTYPE html><html>", "web page");
  expect_refusal(std::string("\x89HDF\r\n\x1a\n"), "HDF5");
  expect_refusal("hello, world", "no checkpoint");
  std::string tar(2048, '\0');
  tar.replace(257, 5, "ustar");
  expect_refusal(tar, "tar");
  expect_refusal("\x80\x02}.", "not one of torch.save");
  expect_refusal("PK\x03\x04 and nothing else", "directory is missing");
}

TEST(Damage, MissingFileIsNamed) {
  try {
    open_checkpoint("no/such/file.pth");
    ADD_FAILURE() << "opened";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("no/such/file.pth"), std::string::npos);
  }
  const TemporaryFolder scratch;
  EXPECT_THROW(open_checkpoint(scratch.path()), DataError);
}

}  // namespace
}  // namespace addp
