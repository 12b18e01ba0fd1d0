#include "image/codec/png_chunks.h"

#include <zlib.h>

#include <algorithm>
#include <string_view>

#include "image/codec/codec.h"
#include "image/codec/exif.h"
#include "image/codec/picture_error.h"

namespace addp {
namespace {

constexpr std::size_t kMaxText = 16u << 20;  // an inflated comment

std::uint32_t big_endian_u32(ByteSpan bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | std::uint32_t{bytes[at + 3]};
}

std::string latin1_to_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0 | byte >> 6);
      out += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return out;
}

std::string inflate_text(std::string_view packed, const std::string& name) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw RuntimeError("{}: cannot start zlib", name);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int status = Z_OK;
  while (status == Z_OK && out.size() <= kMaxText) {
    char block[4096];
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = sizeof block;
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(block, sizeof block - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END)
    fail_picture(name, "PNG", "a compressed comment is damaged or too long");
  return out;
}

// Cuts off and returns what stands before the next NUL.
std::string_view take_string(std::string_view& rest, const std::string& name) {
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) fail_picture(name, "PNG", "a comment is damaged");
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return text;
}

char take_byte(std::string_view& rest, const std::string& name) {
  if (rest.empty()) fail_picture(name, "PNG", "a comment is damaged");
  const char byte = rest.front();
  rest.remove_prefix(1);
  return byte;
}

// tEXt: key NUL latin-1. zTXt: key NUL method deflated latin-1. iTXt: key NUL compressed method
// language NUL translated key NUL UTF-8.
void add_text(const PngChunk& chunk, const std::string& name, TextMetadata& texts) {
  std::string_view rest(reinterpret_cast<const char*>(chunk.data.data()), chunk.data.size());
  const std::string key = latin1_to_utf8(take_string(rest, name));
  std::string value;
  if (chunk.type == "tEXt") {
    value = latin1_to_utf8(rest);
  } else if (chunk.type == "zTXt") {
    take_byte(rest, name);
    value = latin1_to_utf8(inflate_text(rest, name));
  } else {
    const bool compressed = take_byte(rest, name) != 0;
    take_byte(rest, name);
    take_string(rest, name);
    take_string(rest, name);
    value = compressed ? inflate_text(rest, name) : std::string(rest);
  }
  texts[key] = std::move(value);
}

}  // namespace

void visit_png_chunks(ByteSpan bytes, const std::string& name,
                      const std::function<bool(const PngChunk&)>& visit) {
  if (sniff_image_format(bytes) != ImageFormat::kPng) fail_picture(name, "PNG", "no PNG signature");
  std::size_t at = sizeof kPngSignature;
  for (;;) {
    if (bytes.size() - at < 12) fail_picture(name, "PNG", "the file is cut off");
    const std::size_t length = big_endian_u32(bytes, at);
    if (length > bytes.size() - at - 12) fail_picture(name, "PNG", "the file is cut off");
    PngChunk chunk;
    chunk.type.assign(reinterpret_cast<const char*>(bytes.data() + at + 4), 4);
    chunk.data = bytes.subspan(at + 8, length);
    chunk.crc = big_endian_u32(bytes, at + 8 + length);
    if (!visit(chunk) || chunk.type == "IEND") return;
    at += length + 12;
  }
}

int png_orientation(ByteSpan bytes, const std::string& name) {
  int orientation = 1;
  visit_png_chunks(bytes, name, [&](const PngChunk& chunk) {
    if (chunk.type != "eXIf") return true;
    orientation = parse_exif_orientation(chunk.data);
    return false;
  });
  return orientation;
}

TextMetadata read_png_metadata(ByteSpan bytes, const std::string& name) {
  TextMetadata texts;
  visit_png_chunks(bytes, name, [&](const PngChunk& chunk) {
    if (chunk.type != "tEXt" && chunk.type != "zTXt" && chunk.type != "iTXt") return true;
    uLong crc = crc32(0, reinterpret_cast<const Bytef*>(chunk.type.data()), 4);
    if (!chunk.data.empty())
      crc = crc32(crc, chunk.data.data(), static_cast<uInt>(chunk.data.size()));
    if (crc != chunk.crc) fail_picture(name, "PNG", "a comment's checksum is wrong");
    add_text(chunk, name, texts);
    return true;
  });
  return texts;
}

}  // namespace addp
