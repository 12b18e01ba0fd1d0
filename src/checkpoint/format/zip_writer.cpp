#include "checkpoint/format/zip_writer.h"

#include <zlib.h>

#include <algorithm>
#include <type_traits>

#include "base/error.h"

namespace addp {
namespace {

constexpr std::uint64_t kAlignment = 64, kMax32 = 0xffffffff, kMax16 = 0xffff;
constexpr std::uint16_t kUtf8Flag = 1 << 11;
constexpr std::uint16_t kZip64Version = 45;
constexpr std::uint16_t kPaddingId = 0x4246;       // "FB", torch's own padding field
constexpr std::uint16_t kFirstDay = (1 << 5) | 1;  // 1 January 1980: equal tensors give equal files

template <class... Numbers>
std::string little(Numbers... numbers) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&numbers), sizeof(numbers)), ...);
  return out;
}

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

U32 clip32(U64 value, bool force) { return force ? U32(kMax32) : U32(std::min(value, kMax32)); }

}  // namespace

void ZipWriter::add(const std::string& name, std::string_view text) {
  add(name, ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void ZipWriter::add(const std::string& name, ByteSpan bytes) {
  if (name.size() > 1000)
    throw DataError("the record name '{:.40}...' is too long for a zip file", name);
  const U32 checksum = U32(::crc32_z(0, bytes.data(), bytes.size()));
  const bool large = zip64_ || bytes.size() >= kMax32;
  const Entry entry{name, file_.written(), bytes.size(), checksum};
  std::string extra;
  if (large) extra = little(U16(1), U16(16), U64(bytes.size()), U64(bytes.size()));
  const U64 start = entry.header + 30 + name.size() + extra.size() + 4;
  const U64 padding = (kAlignment - start % kAlignment) % kAlignment;
  extra += little(kPaddingId, U16(padding)) + std::string(padding, 'Z');
  const U32 size = clip32(bytes.size(), large);
  file_.write(little(U32(0x04034b50), large ? kZip64Version : U16(20), kUtf8Flag, U16(0), U16(0),
                     kFirstDay, checksum, size, size, U16(name.size()), U16(extra.size())));
  file_.write(name);
  file_.write(extra);
  file_.write(bytes);
  entries_.push_back(entry);
}

std::string ZipWriter::directory_entry(const Entry& entry) const {
  const bool large = zip64_ || entry.size >= kMax32, far = zip64_ || entry.header >= kMax32;
  std::string values;
  if (large) values += little(entry.size, entry.size);
  if (far) values += little(entry.header);
  const std::string extra = values.empty() ? "" : little(U16(1), U16(values.size())) + values;
  const U32 size = clip32(entry.size, large);
  const U16 version = values.empty() ? U16(20) : kZip64Version;
  return little(U32(0x02014b50), version, version, kUtf8Flag, U16(0), U16(0), kFirstDay,
                entry.checksum, size, size, U16(entry.name.size()), U16(extra.size()), U16(0),
                U16(0), U16(0), U32(0), clip32(entry.header, far)) +
         entry.name + extra;
}

void ZipWriter::commit() {
  const U64 start = file_.written();
  for (const Entry& entry : entries_) file_.write(directory_entry(entry));
  const U64 end = file_.written(), size = end - start, count = entries_.size();
  const bool large = zip64_ || start >= kMax32 || size >= kMax32 || count >= kMax16;
  if (large) {
    file_.write(little(U32(0x06064b50), U64(44), kZip64Version, kZip64Version, U32(0), U32(0),
                       count, count, size, start));
    file_.write(little(U32(0x07064b50), U32(0), end, U32(1)));
  }
  const U16 short_count = U16(large ? kMax16 : count);
  file_.write(little(U32(0x06054b50), U16(0), U16(0), short_count, short_count, clip32(size, large),
                     clip32(start, large), U16(0)));
  file_.commit();
}

}  // namespace addp
