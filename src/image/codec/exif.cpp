#include "image/codec/exif.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace addp {
namespace {

// A TIFF block read with every offset checked; out of range reads as nothing.
class TiffReader {
 public:
  TiffReader(ByteSpan bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  std::optional<std::uint32_t> u16(std::uint64_t at) const { return number(at, 2); }
  std::optional<std::uint32_t> u32(std::uint64_t at) const { return number(at, 4); }

 private:
  std::optional<std::uint32_t> number(std::uint64_t at, std::uint64_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) return std::nullopt;
    std::uint32_t value = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      const std::uint64_t place = big_endian_ ? i : size - 1 - i;
      value = value << 8 | bytes_[at + place];
    }
    return value;
  }

  ByteSpan bytes_;
  bool big_endian_;
};

// What an orientation does to the stored picture: transpose first, then mirror the result.
struct Turn {
  bool transpose, mirror_x, mirror_y;
};

Turn turn_of(int orientation) {
  switch (orientation) {
    case 2:
      return {false, true, false};
    case 3:
      return {false, true, true};
    case 4:
      return {false, false, true};
    case 5:
      return {true, false, false};
    case 6:
      return {true, true, false};
    case 7:
      return {true, true, true};
    case 8:
      return {true, false, true};
    default:
      return {false, false, false};
  }
}

template <int Channels, class Picture>
Picture turned(const Picture& stored, Turn turn) {
  Picture out(turn.transpose ? stored.height : stored.width,
              turn.transpose ? stored.width : stored.height);
  for (int y = 0; y < out.height; ++y) {
    const int v = turn.mirror_y ? out.height - 1 - y : y;
    std::uint8_t* to = out.row(y);
    for (int x = 0; x < out.width; ++x, to += Channels) {
      const int u = turn.mirror_x ? out.width - 1 - x : x;
      const int from_x = turn.transpose ? v : u;
      const int from_y = turn.transpose ? u : v;
      std::memcpy(to, stored.row(from_y) + std::size_t(from_x) * Channels, Channels);
    }
  }
  return out;
}

}  // namespace

int parse_exif_orientation(ByteSpan exif) {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  if (exif.size() >= kPrefix.size() &&
      std::memcmp(exif.data(), kPrefix.data(), kPrefix.size()) == 0) {
    exif = exif.subspan(kPrefix.size());
  }
  if (exif.size() < 8) return 1;
  const bool big_endian = exif[0] == 'M' && exif[1] == 'M';
  if (!big_endian && !(exif[0] == 'I' && exif[1] == 'I')) return 1;
  const TiffReader tiff(exif, big_endian);
  if (tiff.u16(2) != 42u) return 1;
  const std::uint64_t directory = tiff.u32(4).value_or(0);
  const std::uint32_t entries = tiff.u16(directory).value_or(0);
  constexpr std::uint32_t kOrientationTag = 0x0112, kShort = 3;
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = directory + 2 + std::uint64_t{i} * 12;
    const auto tag = tiff.u16(entry);
    if (!tag) return 1;
    if (*tag != kOrientationTag) continue;
    const std::uint32_t value = tiff.u16(entry + 8).value_or(1);
    return tiff.u16(entry + 2) == kShort && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

Image apply_orientation(Image stored, int orientation) {
  if (orientation <= 1 || orientation > 8) return stored;
  return turned<3>(stored, turn_of(orientation));
}

GrayImage apply_orientation(GrayImage stored, int orientation) {
  if (orientation <= 1 || orientation > 8) return stored;
  return turned<1>(stored, turn_of(orientation));
}

Box to_upright(const Box& stored, int orientation, float stored_width, float stored_height) {
  const Turn turn = turn_of(orientation);
  Box box = stored;
  if (turn.transpose) {
    box = {box.top, box.left, box.bottom, box.right};
    std::swap(stored_width, stored_height);
  }
  if (turn.mirror_x) box = {stored_width - box.right, box.top, stored_width - box.left, box.bottom};
  if (turn.mirror_y)
    box = {box.left, stored_height - box.bottom, box.right, stored_height - box.top};
  return box;
}

Box to_stored(const Box& upright, int orientation, float stored_width, float stored_height) {
  const Turn turn = turn_of(orientation);
  Box box = upright;
  const float width = turn.transpose ? stored_height : stored_width;
  const float height = turn.transpose ? stored_width : stored_height;
  if (turn.mirror_x) box = {width - box.right, box.top, width - box.left, box.bottom};
  if (turn.mirror_y) box = {box.left, height - box.bottom, box.right, height - box.top};
  if (turn.transpose) box = {box.top, box.left, box.bottom, box.right};
  return box;
}

}  // namespace addp
