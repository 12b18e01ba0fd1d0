#include "image/codec/exif.h"

#include <libexif/exif-data.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

namespace addp {
namespace {

// What an orientation does to the stored picture: transpose first, then mirror the result.
struct Turn {
  bool transpose, mirror_x, mirror_y;
};

// By EXIF's orientation, 1 to 8.
constexpr Turn kTurns[] = {{false, false, false}, {false, true, false}, {false, true, true},
                           {false, false, true},  {true, false, false}, {true, true, false},
                           {true, true, true},    {true, false, true}};

Turn turn_of(int orientation) {
  return kTurns[orientation >= 1 && orientation <= 8 ? orientation - 1 : 0];
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
  constexpr std::size_t kLongest = 0xFFFF;  // of JPEG's marker; other formats set no bound
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  Bytes block;
  if (!std::equal(kPrefix.begin(), kPrefix.end(), exif.begin(),
                  exif.begin() + std::ptrdiff_t(std::min(exif.size(), kPrefix.size())))) {
    block.assign(kPrefix.begin(), kPrefix.end());  // libexif wants it
  }
  const ByteSpan read = exif.first(std::min(exif.size(), kLongest));
  block.insert(block.end(), read.begin(), read.end());
  const std::unique_ptr<ExifData, decltype(&exif_data_unref)> data(exif_data_new(),
                                                                   exif_data_unref);
  if (data == nullptr) return 1;
  // Entries as they are stored: nothing mended, nothing added.
  exif_data_unset_option(data.get(), EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
  exif_data_load_data(data.get(), block.data(), static_cast<unsigned int>(block.size()));
  const ExifEntry* entry = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
  if (entry == nullptr || entry->format != EXIF_FORMAT_SHORT || entry->size < 2) return 1;
  const int value = exif_get_short(entry->data, exif_data_get_byte_order(data.get()));
  return value >= 1 && value <= 8 ? value : 1;
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
