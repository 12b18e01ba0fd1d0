#include "image/codec/crop_decode.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "image/codec/jpeg.h"
#include "image/fixture_pictures.h"
#include "image/sample_files.h"

namespace addp {
namespace {

using testing::photo_like;

std::vector<testing::JpegKind> jpeg_kinds() {
  std::vector<testing::JpegKind> kinds;
  for (const auto& [h, v] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}}) {
    for (const bool progressive : {false, true}) {
      testing::JpegKind kind;
      kind.h_sampling = h;
      kind.v_sampling = v;
      kind.progressive = progressive;
      kind.quality = 85;
      kinds.push_back(kind);
    }
  }
  kinds.emplace_back().gray = true;
  kinds.emplace_back().restart_rows = 1;
  kinds.emplace_back().arithmetic = true;
  return kinds;
}

PixelBox random_box(int width, int height, RandomStream& random) {
  const int w = int(random.integer(1, width)), h = int(random.integer(1, height));
  return {int(random.integer(0, width - w)), int(random.integer(0, height - h)), w, h};
}

TEST(JpegRegion, EqualsThePartOfTheWhole) {
  RandomStream random(4, "region");
  for (const auto& kind : jpeg_kinds()) {
    const Image source = photo_like(int(random.integer(20, 150)), int(random.integer(20, 150)));
    const Bytes bytes = testing::make_jpeg(source, kind);
    for (const int denominator : {1, 2, 4, 8}) {
      const Image whole = JpegReader(bytes, "a.jpg", {}).read(denominator);
      for (int i = 0; i < 12; ++i) {
        const PixelBox box = random_box(whole.width, whole.height, random);
        const Image part = JpegReader(bytes, "a.jpg", {}).read_region(denominator, box);
        ASSERT_EQ(part, crop(whole, box))
            << kind.h_sampling << "x" << kind.v_sampling << " progressive " << kind.progressive
            << " 1/" << denominator << " box " << box.left << "," << box.top << " " << box.width
            << "x" << box.height << " of " << whole.width << "x" << whole.height << " differs by "
            << testing::largest_difference(part, crop(whole, box));
      }
    }
  }
}

TEST(JpegRegion, CmykToo) {
  RandomStream random(5, "region");
  const Bytes bytes =
      testing::make_cmyk_jpeg(photo_like(70, 50), testing::CmykKind::kAdobeInverted);
  const Image whole = decode_image(bytes, "a.jpg");
  for (int i = 0; i < 20; ++i) {
    const PixelBox box = random_box(70, 50, random);
    EXPECT_EQ(JpegReader(bytes, "a.jpg", {}).read_region(1, box), crop(whole, box));
  }
}

TEST(CropDecode, EqualsDecodeCropResizeFlip) {
  RandomStream random(6, "crop");
  const Image source = photo_like(90, 70);
  std::vector<Bytes> files{encode_png(source), encode_webp(source, 100)};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    testing::JpegKind kind;
    kind.orientation = orientation;
    files.push_back(testing::make_jpeg(source, kind));
  }
  for (const Bytes& bytes : files) {
    const Image whole = decode_image(bytes, "a");
    for (int i = 0; i < 8; ++i) {
      CropRequest request;
      request.box = random_box(whole.width, whole.height, random);
      request.width = 24;
      request.height = 20;
      request.mirror = i % 2 == 1;
      request.filter = i < 4 ? Resample::kBicubic : Resample::kBilinear;
      request.reduced = false;
      Image expected = resize(crop(whole, request.box), 24, 20, request.filter);
      if (request.mirror) flip_horizontally(expected);
      const Image ours = decode_crop(bytes, "a", [&](const ImageInfo& info) {
        EXPECT_EQ(info.width, whole.width);
        EXPECT_EQ(info.height, whole.height);
        return request;
      });
      ASSERT_EQ(ours, expected);
    }
  }
}

TEST(CropDecode, ReducedDecodingStaysClose) {
  const Image source = photo_like(640, 480);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    testing::JpegKind kind;
    kind.orientation = orientation;
    const Bytes bytes = testing::make_jpeg(source, kind);
    const auto decode = [&](bool reduced) {
      return decode_crop(bytes, "a", [&](const ImageInfo& info) {
        CropRequest request;
        request.box = {21, 13, info.width - 90, info.height - 55};
        request.width = request.height = 64;
        request.reduced = reduced;
        return request;
      });
    };
    const Image exact = decode(false), fast = decode(true);
    double sum = 0;
    for (std::size_t i = 0; i < exact.pixels.size(); ++i) {
      sum += std::abs(int(exact.pixels[i]) - int(fast.pixels[i]));
    }
    EXPECT_LT(sum / double(exact.pixels.size()), 1.5) << orientation;
  }
}

TEST(CropDecode, DenominatorKeepsTheResultsSize) {
  EXPECT_EQ(jpeg_denominator(447, 448, 224, 224), 1);
  EXPECT_EQ(jpeg_denominator(448, 448, 224, 224), 2);
  EXPECT_EQ(jpeg_denominator(3000, 896, 224, 224), 4);
  EXPECT_EQ(jpeg_denominator(3000, 3000, 224, 224), 8);
}

TEST(CropDecode, CropsOutsideAreRefused) {
  const Bytes bytes = encode_jpeg(photo_like(40, 30));
  for (const PixelBox& box : {PixelBox{-1, 0, 5, 5}, {0, 0, 41, 5}, {0, 0, 0, 5}, {35, 0, 6, 5}}) {
    EXPECT_THROW(decode_crop(bytes, "a",
                             [&](const ImageInfo&) {
                               CropRequest request;
                               request.box = box;
                               return request;
                             }),
                 UsageError);
  }
}

}  // namespace
}  // namespace addp
