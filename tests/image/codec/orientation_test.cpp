#include <gtest/gtest.h>

#include "image/codec/codec.h"
#include "image/codec/crop_decode.h"
#include "image/codec/exif.h"
#include "image/fixture_pictures.h"
#include "image/sample_files.h"

namespace addp {
namespace {

using testing::largest_difference;
using testing::make_exif;
using testing::photo_like;

// Where the upright pixel (x, y) is stored, from EXIF 2.3's table of the stored row 0 and column 0.
std::pair<int, int> stored_place(int orientation, int x, int y, int w, int h) {
  switch (orientation) {
    case 2:
      return {w - 1 - x, y};
    case 3:
      return {w - 1 - x, h - 1 - y};
    case 4:
      return {x, h - 1 - y};
    case 5:
      return {y, x};
    case 6:
      return {y, h - 1 - x};
    case 7:
      return {w - 1 - y, h - 1 - x};
    case 8:
      return {w - 1 - y, x};
    default:
      return {x, y};
  }
}

TEST(Orientation, TurnsEveryWay) {
  const Image stored = photo_like(7, 5);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Image upright = apply_orientation(stored, orientation);
    ASSERT_EQ(upright.width, orientation >= 5 ? 5 : 7);
    for (int y = 0; y < upright.height; ++y) {
      for (int x = 0; x < upright.width; ++x) {
        const auto [u, v] = stored_place(orientation, x, y, 7, 5);
        ASSERT_EQ(upright.at(x, y)[0], stored.at(u, v)[0]) << orientation;
        ASSERT_EQ(upright.at(x, y)[2], stored.at(u, v)[2]) << orientation;
      }
    }
  }
}

TEST(Orientation, BoxesTurnAlike) {
  const Image stored = photo_like(20, 12);
  const PixelBox box{3, 2, 9, 5};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Box upright = to_upright(to_box(box), orientation, 20, 12);
    EXPECT_EQ(to_stored(upright, orientation, 20, 12), to_box(box));
    const PixelBox whole{int(upright.left), int(upright.top), int(upright.width()),
                         int(upright.height())};
    EXPECT_EQ(crop(apply_orientation(stored, orientation), whole),
              apply_orientation(crop(stored, box), orientation));
  }
}

TEST(Orientation, IsReadFromEveryFormat) {
  const Image stored = photo_like(24, 16);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big_endian : {false, true}) {
      testing::JpegKind kind;
      kind.h_sampling = kind.v_sampling = 1;
      kind.orientation = orientation;
      kind.big_endian = big_endian;
      const Bytes jpeg = testing::make_jpeg(stored, kind);
      const ImageInfo info = read_image_info(jpeg, "a.jpg");
      EXPECT_EQ(info.orientation, orientation);
      EXPECT_EQ(info.width, orientation >= 5 ? 16 : 24);
      const Image expected = apply_orientation(stored, orientation);
      EXPECT_LE(largest_difference(decode_image(jpeg, "a.jpg"), expected), 12);
    }
    const Image expected = apply_orientation(stored, orientation);
    testing::PngKind png{2, 8};
    png.orientation = orientation;
    const std::vector<std::uint16_t> samples(stored.pixels.begin(), stored.pixels.end());
    const Bytes png_bytes = testing::make_png(24, 16, samples, png);
    EXPECT_EQ(decode_image(png_bytes, "a.png"), expected);
    EXPECT_EQ(read_image_info(png_bytes, "a.png").orientation, orientation);
    const Bytes webp = testing::make_webp_with_exif(stored, orientation);
    EXPECT_EQ(decode_image(webp, "a.webp"), expected);
    EXPECT_EQ(read_image_info(webp, "a.webp").width, expected.width);
  }
}

TEST(Orientation, IsFoundBehindThePixelsOfAPng) {
  const Image stored = photo_like(6, 4);
  Bytes bytes = encode_png(stored);
  const Bytes chunk = testing::make_png_chunk("eXIf", make_exif(6, true));
  bytes.insert(bytes.end() - 12, chunk.begin(), chunk.end());
  EXPECT_EQ(read_image_info(bytes, "a.png").orientation, 6);
  EXPECT_EQ(decode_image(bytes, "a.png"), apply_orientation(stored, 6));
}

TEST(Orientation, OtherTagsAndTypesSayNothing) {
  Bytes exif = make_exif(6, true);
  exif[8 + 2 + 12 + 1] = 0x13;  // the tag of the second entry: 0x0113 instead of 0x0112
  EXPECT_EQ(parse_exif_orientation(exif), 1);
  Bytes as_long = make_exif(6, true);
  as_long[8 + 2 + 12 + 3] = 4;  // LONG instead of SHORT
  EXPECT_EQ(parse_exif_orientation(as_long), 1);
}

TEST(Orientation, DamagedExifCountsAsUpright) {
  for (const bool big_endian : {false, true}) {
    const Bytes exif = make_exif(6, big_endian);
    EXPECT_EQ(parse_exif_orientation(exif), 6);
    for (std::size_t size = 0; size < exif.size(); ++size) {
      const int value = parse_exif_orientation(ByteSpan(exif).first(size));
      EXPECT_TRUE(value == 1 || value == 6);
      EXPECT_TRUE(size >= 32 || value == 1);
    }
    for (std::size_t i = 0; i < exif.size(); ++i) {
      for (const int bit : {1, 16, 128}) {
        Bytes flipped = exif;
        flipped[i] ^= std::uint8_t(bit);
        const int value = parse_exif_orientation(flipped);
        EXPECT_TRUE(value >= 1 && value <= 8);
      }
    }
    EXPECT_EQ(parse_exif_orientation(make_exif(9, big_endian)), 1);
    EXPECT_EQ(parse_exif_orientation(make_exif(0, big_endian)), 1);
  }
}

}  // namespace
}  // namespace addp
