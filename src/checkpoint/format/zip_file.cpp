#include "checkpoint/format/zip_file.h"

#include <zlib.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "checkpoint/format/byte_reader.h"

namespace addp {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50, kEntrySignature = 0x02014b50,
                        kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50,
                        kLocator64Signature = 0x07064b50;
constexpr std::uint64_t kEndSize = 22, kLocator64Size = 20, kLocalSize = 30;
constexpr std::uint64_t kMaxComment = 0xffff;
// Deflate cannot shrink further than this (zlib's technical notes), so a record that
// claims more lies.
constexpr std::uint64_t kMaxRatio = 1032;
constexpr std::uint64_t kMaxInflated = std::uint64_t{1} << 35;

std::uint32_t signature_at(ByteSpan bytes, std::uint64_t offset) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

std::uint32_t crc32_of(ByteSpan bytes) {
  return static_cast<std::uint32_t>(::crc32_z(0, bytes.data(), bytes.size()));
}

// Replaces the fields that say "see the zip64 extra" (all bits set), in the order of APPNOTE 4.5.3.
void apply_zip64(ByteSpan extra, const std::string& name, ZipRecord& record) {
  ByteReader fields(extra, name);
  while (fields.remaining() >= 4) {
    const auto id = fields.take_little<std::uint16_t>();
    const ByteSpan body = fields.take(fields.take_little<std::uint16_t>());
    if (id != 1) continue;
    ByteReader values(body, name);
    for (std::uint64_t* field : {&record.size, &record.stored_size, &record.header}) {
      if (*field == 0xffffffff) *field = values.take_little<std::uint64_t>();
    }
    return;
  }
}

}  // namespace

bool ZipFile::looks_like_zip(ByteSpan bytes) {
  return bytes.size() >= 4 && signature_at(bytes, 0) == kLocalSignature;
}

ZipFile::ZipFile(ByteSpan bytes, std::shared_ptr<const void> owner, std::string name)
    : bytes_(bytes),
      owner_(std::move(owner)),
      name_(std::move(name)),
      inflate_budget_(std::min(kMaxInflated, bytes.size() * kMaxRatio)) {
  read_directory(find_directory());
  check_overlap();
}

ZipFile::Directory ZipFile::find_directory() const {
  const std::uint64_t size = bytes_.size();
  const std::uint64_t last = size < kEndSize ? 0 : size - kEndSize;
  const std::uint64_t first = last - std::min(last, kMaxComment);
  for (std::uint64_t at = last + 1; size >= kEndSize && at-- > first;) {
    if (signature_at(bytes_, at) != kEndSignature) continue;
    ByteReader end(bytes_.subspan(at), name_);
    end.take(10);
    Directory found;
    found.count = end.take_little<std::uint16_t>();
    found.size = end.take_little<std::uint32_t>();
    found.offset = end.take_little<std::uint32_t>();
    if (at >= kLocator64Size && signature_at(bytes_, at - kLocator64Size) == kLocator64Signature) {
      return read_zip64_directory(at);
    }
    return found;
  }
  throw DataError(
      "{}: starts like a zip file but its directory is missing; the download was cut off, "
      "fetch it again",
      name_);
}

ZipFile::Directory ZipFile::read_zip64_directory(std::uint64_t end_record) const {
  ByteReader locator(bytes_.subspan(end_record - kLocator64Size), name_);
  locator.take(8);
  const auto at = locator.take_little<std::uint64_t>();
  if (at > end_record || end_record - at < 56 || signature_at(bytes_, at) != kEnd64Signature) {
    throw DataError("{}: its zip64 directory is not where the file says; fetch it again", name_);
  }
  ByteReader end(bytes_.subspan(at), name_);
  end.take(32);
  Directory found;
  found.count = end.take_little<std::uint64_t>();
  found.size = end.take_little<std::uint64_t>();
  found.offset = end.take_little<std::uint64_t>();
  return found;
}

void ZipFile::read_directory(const Directory& directory) {
  if (directory.offset > bytes_.size() || directory.size > bytes_.size() - directory.offset) {
    throw DataError("{}: its zip directory lies outside of the file; it is cut off, fetch it again",
                    name_);
  }
  ByteReader entries(bytes_.subspan(directory.offset, directory.size), name_);
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    if (entries.take_little<std::uint32_t>() != kEntrySignature) {
      throw DataError("{}: entry {} of its zip directory is damaged; fetch it again", name_, i);
    }
    entries.take(4);
    const auto flags = entries.take_little<std::uint16_t>();
    const auto method = entries.take_little<std::uint16_t>();
    entries.take(4);
    ZipRecord record;
    record.checksum = entries.take_little<std::uint32_t>();
    record.stored_size = entries.take_little<std::uint32_t>();
    record.size = entries.take_little<std::uint32_t>();
    const auto name_length = entries.take_little<std::uint16_t>();
    const auto extra_length = entries.take_little<std::uint16_t>();
    const auto comment_length = entries.take_little<std::uint16_t>();
    entries.take(8);
    record.header = entries.take_little<std::uint32_t>();
    const std::string record_name(entries.take_text(name_length));
    apply_zip64(entries.take(extra_length), name_, record);
    entries.take(comment_length);
    if ((flags & 1) != 0 || (method != 0 && method != 8)) {
      throw DataError(
          "{}: record '{}' is encrypted or packed by method {}; only plain and deflated records "
          "can be read",
          name_, record_name, method);
    }
    record.deflated = method == 8;
    locate(record, directory.offset, record_name);
    if (!records_.emplace(record_name, record).second) {
      throw DataError("{}: holds the record '{}' twice; it was tampered with", name_, record_name);
    }
  }
}

// Overlapping records cost nothing to write and much to read.
void ZipFile::check_overlap() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;
  for (const auto& [record_name, record] : records_) {
    spans.emplace_back(record.header, record.offset + record.stored_size);
  }
  std::sort(spans.begin(), spans.end());
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first < spans[i - 1].second) {
      throw DataError("{}: two of its records overlap; it is damaged or was tampered with", name_);
    }
  }
}

void ZipFile::locate(ZipRecord& record, std::uint64_t limit, const std::string& record_name) const {
  const std::uint64_t header = record.header;
  const auto wrong = [&](const char* what) {
    throw DataError("{}: record '{}' {}; the file is damaged, fetch it again", name_, record_name,
                    what);
  };
  if (header > limit || limit - header < kLocalSize) wrong("lies outside of the file");
  if (signature_at(bytes_, header) != kLocalSignature) wrong("has no header where it should be");
  ByteReader local(bytes_.subspan(header + 26), name_);
  const std::uint64_t name_length = local.take_little<std::uint16_t>();
  const std::uint64_t extra_length = local.take_little<std::uint16_t>();
  if (local.remaining() < name_length || local.take_text(name_length) != record_name) {
    wrong("has another name in its own header");
  }
  record.offset = header + kLocalSize + name_length + extra_length;
  if (record.offset > limit || record.stored_size > limit - record.offset) {
    wrong("reaches beyond the data");
  }
  if (record.deflated ? record.size / kMaxRatio > record.stored_size
                      : record.size != record.stored_size) {
    wrong("has an impossible size");
  }
}

ZipContent ZipFile::read(const std::string& record_name, bool verify) {
  const auto found = records_.find(record_name);
  if (found == records_.end()) {
    throw DataError("{}: the record '{}' is missing; the file is incomplete, fetch it again", name_,
                    record_name);
  }
  const ZipRecord& record = found->second;
  ZipContent content = record.deflated
                           ? inflate(record, record_name)
                           : ZipContent{bytes_.subspan(record.offset, record.size), owner_};
  // torch.serialization.set_crc32_options(False) writes 0 instead of the sum.
  if (verify && record.checksum != 0 && crc32_of(content.bytes) != record.checksum) {
    throw DataError(
        "{}: record '{}' does not match its checksum; the file is damaged, fetch it again", name_,
        record_name);
  }
  return content;
}

ZipContent ZipFile::inflate(const ZipRecord& record, const std::string& record_name) {
  if (record.size > inflate_budget_) {
    throw DataError("{}: unpacks to more than a file of its size can hold; it was tampered with",
                    name_);
  }
  inflate_budget_ -= record.size;
  auto buffer = std::make_shared<Bytes>(record.size);
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw RuntimeError("zlib has no memory left");
  std::uint64_t in = 0, out = 0;
  int state = Z_OK;
  // zlib counts in 32 bits: feed it in pieces.
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 30;
  while (state == Z_OK) {
    const std::uint64_t give = std::min(kPiece, record.stored_size - in);
    const std::uint64_t room = std::min(kPiece, record.size - out);
    stream.next_in = const_cast<std::uint8_t*>(bytes_.data() + record.offset + in);
    stream.avail_in = static_cast<uInt>(give);
    stream.next_out = buffer->data() + out;
    stream.avail_out = static_cast<uInt>(room);
    state = ::inflate(&stream, Z_NO_FLUSH);
    in += give - stream.avail_in;
    out += room - stream.avail_out;
  }
  ::inflateEnd(&stream);
  if (state != Z_STREAM_END || out != record.size) {
    throw DataError("{}: record '{}' cannot be unpacked; the file is damaged, fetch it again",
                    name_, record_name);
  }
  return {ByteSpan(*buffer), buffer};
}

}  // namespace addp
