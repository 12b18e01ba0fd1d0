#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "checkpoint/format/zip_file.h"
#include "checkpoint/format/zip_writer.h"
#include "checkpoint/python.h"

namespace addp {
namespace {

using testing::TemporaryFolder;

Bytes sample(const TemporaryFolder& scratch, bool zip64) {
  ZipWriter writer(scratch / "x.zip", zip64);
  writer.add("x/a", "hello");
  writer.add("x/empty", "");
  writer.add("x/b", Bytes(1000, 3));
  writer.commit();
  return read_file(scratch / "x.zip");
}

std::string text_of(const ZipContent& content) {
  return {content.bytes.begin(), content.bytes.end()};
}

TEST(Zip, RoundTripAlignedWithAndWithoutZip64) {
  const TemporaryFolder scratch;
  for (const bool zip64 : {false, true}) {
    const Bytes bytes = sample(scratch, zip64);
    ZipFile zip(bytes, nullptr, "x.zip");
    EXPECT_EQ(zip.records().size(), 3u);
    EXPECT_EQ(text_of(zip.read("x/a", true)), "hello");
    EXPECT_EQ(text_of(zip.read("x/empty", true)), "");
    EXPECT_EQ(text_of(zip.read("x/b", true)), std::string(1000, '\3'));
    for (const auto& [name, record] : zip.records()) EXPECT_EQ(record.offset % 64, 0u) << name;
    EXPECT_THROW(zip.read("x/c", true), DataError);
  }
}

TEST(Zip, DamageIsNoticed) {
  const TemporaryFolder scratch;
  const Bytes whole = sample(scratch, true);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(ZipFile(ByteSpan(whole).first(size), nullptr, "x"), DataError) << size;
  }
  // A flipped bit is refused or leaves the content as it was (times, versions, padding).
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << (bit % 8));
    try {
      ZipFile zip(flipped, nullptr, "x");
      ASSERT_EQ(text_of(zip.read("x/a", true)), "hello") << bit;
      ASSERT_EQ(text_of(zip.read("x/b", true)), std::string(1000, '\3')) << bit;
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, std::size_t{1000 * 8});
}

TEST(Zip, RecordsMayNotOverlap) {
  const TemporaryFolder scratch;
  Bytes inner = sample(scratch, false);
  // A whole zip as the content of a record; then the outer directory entry of "y"
  // is pointed inside.
  ZipWriter writer(scratch / "outer.zip");
  writer.add("x/b", inner);
  writer.commit();
  Bytes outer = read_file(scratch / "outer.zip");
  ZipFile fine(outer, nullptr, "outer.zip");
  EXPECT_EQ(fine.records().size(), 1u);
  // The inner directory describes records inside of the outer one; splice both entries together.
  const std::uint64_t offset = fine.records().at("x/b").offset;
  const auto find = [](const Bytes& bytes, const char* signature) {
    return static_cast<std::size_t>(
        std::search(bytes.begin(), bytes.end(), signature, signature + 4) - bytes.begin());
  };
  const std::size_t inner_entry = find(inner, "PK\1\2");
  const std::size_t entry_size = 46 + 3;
  Bytes entry(inner.begin() + static_cast<long>(inner_entry),
              inner.begin() + static_cast<long>(inner_entry + entry_size));
  const auto header = static_cast<std::uint32_t>(offset);  // the inner file's first record
  std::memcpy(entry.data() + 42, &header, 4);
  const std::size_t end = outer.size() - 22;
  outer.insert(outer.begin() + static_cast<long>(end), entry.begin(), entry.end());
  std::uint32_t size = 0;
  std::memcpy(&size, outer.data() + outer.size() - 10, 4);
  size += entry_size;
  std::memcpy(outer.data() + outer.size() - 10, &size, 4);
  outer[outer.size() - 12] = 2;
  try {
    ZipFile zip(outer, nullptr, "outer.zip");
    ADD_FAILURE() << "accepted";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("overlap"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace addp
