#include "base/printable.h"

#include <fmt/format.h>

#include <cstdio>

namespace addp {

std::pair<std::uint32_t, std::size_t> decode_utf8(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(at) >= 0xF0 ? 4 : byte(at) >= 0xE0 ? 3 : byte(at) >= 0xC2 ? 2 : 0;
  if (length == 0 || at + length > text.size()) return {0, 0};
  std::uint32_t point = byte(at) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return {0, 0};
    point = point << 6U | (byte(at + i) & 0x3FU);
  }
  constexpr std::uint32_t kShortest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid =
      point >= kShortest[length] && point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
  return {point, valid ? length : 0};
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      out += text[i++];
      continue;
    }
    const std::size_t length = decode_utf8(text, i).second;
    out += length > 0 ? text.substr(i, length) : std::string_view("\xEF\xBF\xBD");
    i += length > 0 ? length : 1;
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto [point, length] =
        byte < 0x80 ? std::pair<std::uint32_t, std::size_t>(byte, 1) : decode_utf8(text, i);
    // U+0080 to U+009F are obeyed by some terminals.
    const bool control =
        (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7f && point < 0xa0);
    if (length == 0 || control) {
      out += fmt::format("\\x{:02x}", length == 0 ? byte : point);
    } else {
      out += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return out;
}

void write_stderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace addp
