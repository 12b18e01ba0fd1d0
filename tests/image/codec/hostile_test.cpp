// Cut, flipped and lying files: a DataError that names the file, or a picture; nothing else.
#include <gtest/gtest.h>
#include <zlib.h>

#include "base/error.h"
#include "base/random.h"
#include "image/codec/animation.h"
#include "image/codec/codec.h"
#include "image/codec/crop_decode.h"
#include "image/sample_files.h"

namespace addp {
namespace {

using testing::photo_like;

std::vector<std::pair<std::string, Bytes>> sample_pictures() {
  const Image image = photo_like(45, 37);
  testing::JpegKind progressive, arithmetic, turned;
  progressive.progressive = true;
  arithmetic.arithmetic = true;
  turned.orientation = 6;
  const std::vector<std::uint16_t> samples(image.pixels.begin(), image.pixels.end());
  const std::vector<Image> frames{image, photo_like(45, 37)};
  return {{"plain.jpg", encode_jpeg(image, 80)},
          {"progressive.jpg", testing::make_jpeg(image, progressive)},
          {"arithmetic.jpg", testing::make_jpeg(image, arithmetic)},
          {"turned.jpg", testing::make_jpeg(image, turned)},
          {"cmyk.jpg", testing::make_cmyk_jpeg(image, testing::CmykKind::kAdobeYcck)},
          {"plain.png", encode_png(image, {{"key", "value"}})},
          {"interlaced.png", testing::make_png(45, 37, samples, {2, 8, true})},
          {"lossy.webp", encode_webp(image, 80)},
          {"lossless.webp", encode_webp(image, 100)},
          {"moving.webp", encode_webp_animation(frames)}};
}

void expect_named_error(ByteSpan bytes, const std::string& name) {
  try {
    decode_image(bytes, name);
    ADD_FAILURE() << name << " cut to " << bytes.size() << " bytes was read";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
  }
}

CropRequest some_crop(const ImageInfo& info) {
  CropRequest request;
  request.box = {info.width / 4, info.height / 4, info.width / 2, info.height / 2};
  request.width = request.height = 16;
  return request;
}

TEST(Hostile, EveryCutIsAnError) {
  for (const auto& [name, bytes] : sample_pictures()) {
    ASSERT_NO_THROW(decode_image(bytes, name)) << name;
    for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 97) {
      expect_named_error(ByteSpan(bytes).first(size), name);
    }
    expect_named_error(ByteSpan(bytes).first(bytes.size() - 1), name);
  }
}

TEST(Hostile, ACutIsNoticedWhereverTheCropLies) {
  for (const auto& [name, bytes] : sample_pictures()) {
    for (std::size_t size = bytes.size() / 2; size < bytes.size(); size += 31) {
      EXPECT_THROW(decode_crop(ByteSpan(bytes).first(size), name, some_crop), DataError) << name;
    }
  }
}

TEST(Hostile, FlippedBitsGiveAPictureOrAnError) {
  RandomStream random(11, "flip");
  int errors = 0;
  for (const auto& [name, bytes] : sample_pictures()) {
    for (int round = 0; round < 300; ++round) {
      Bytes damaged = bytes;
      for (int i = 0; i <= round % 3; ++i) {
        const auto at = std::size_t(random.integer(0, std::int64_t(bytes.size()) - 1));
        damaged[at] ^= std::uint8_t(1 << random.integer(0, 7));
      }
      DecodeOptions options;
      options.limits.max_pixels = 1 << 20;
      try {
        const Image image = decode_image(damaged, name, options);
        EXPECT_EQ(image.pixels.size(), std::size_t(image.width) * std::size_t(image.height) * 3);
        decode_crop(
            damaged, name,
            [](const ImageInfo& info) {
              CropRequest request;
              request.box = {0, info.height / 3, (info.width + 1) / 2, (info.height + 1) / 2};
              request.width = request.height = 8;
              return request;
            },
            options.limits);
      } catch (const DataError& error) {
        EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
        ++errors;
      }
    }
  }
  EXPECT_GT(errors, 100);
}

void set_u16(Bytes& bytes, std::size_t at, int value) {
  bytes[at] = std::uint8_t(value >> 8);
  bytes[at + 1] = std::uint8_t(value);
}

// A JPEG whose frame header claims another size.
Bytes lying_jpeg(int width, int height) {
  Bytes bytes = encode_jpeg(photo_like(16, 16));
  for (std::size_t i = 2; i + 8 < bytes.size(); ++i) {
    if (bytes[i] == 0xFF && bytes[i + 1] == 0xC0) {
      set_u16(bytes, i + 5, height);
      set_u16(bytes, i + 7, width);
      break;
    }
  }
  return bytes;
}

Bytes lying_png(std::uint32_t width, std::uint32_t height) {
  Bytes bytes = encode_png(photo_like(16, 16));
  for (int i = 0; i < 4; ++i) {
    bytes[std::size_t(16 + i)] = std::uint8_t(width >> (24 - 8 * i));
    bytes[std::size_t(20 + i)] = std::uint8_t(height >> (24 - 8 * i));
  }
  const auto crc = std::uint32_t(crc32(0, bytes.data() + 12, 17));
  for (int i = 0; i < 4; ++i) bytes[std::size_t(29 + i)] = std::uint8_t(crc >> (24 - 8 * i));
  return bytes;
}

TEST(Hostile, ClaimedSizesAreCheckedBeforeAllocation) {
  for (const Bytes& bytes :
       {lying_jpeg(65000, 65000), lying_jpeg(13000, 13000), lying_jpeg(65535, 1),
        lying_png(60000, 60000), lying_png(0x7fffffff, 0x7fffffff), lying_png(13000, 13000),
        lying_png(0, 5), lying_png(100000, 1)}) {
    EXPECT_THROW(decode_image(bytes, "bomb"), DataError);
    EXPECT_THROW(decode_labels(bytes, "bomb"), DataError);
    EXPECT_THROW(decode_crop(bytes, "bomb", some_crop), DataError);
  }
}

TEST(Hostile, LimitsAreTheCallersChoice) {
  const Image image = photo_like(40, 30);
  for (const Bytes& bytes : {encode_jpeg(image), encode_png(image), encode_webp(image)}) {
    DecodeOptions options;
    options.limits.max_pixels = 40 * 30;
    EXPECT_NO_THROW(decode_image(bytes, "a", options));
    options.limits.max_pixels = 40 * 30 - 1;
    EXPECT_THROW(decode_image(bytes, "a", options), DataError);
    options.limits = {};
    options.limits.max_side = 39;
    EXPECT_THROW(decode_image(bytes, "a", options), DataError);
    EXPECT_THROW(read_image_info(bytes, "a", options.limits), DataError);
  }
}

TEST(Hostile, EndlessScansAreRefused) {
  testing::JpegKind kind;
  kind.progressive = true;
  Bytes bytes = testing::make_jpeg(photo_like(64, 64), kind);
  // The last scan again and again.
  std::size_t last = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    if (bytes[i] == 0xFF && bytes[i + 1] == 0xDA) last = i;
  }
  const Bytes scan(bytes.begin() + std::ptrdiff_t(last), bytes.end() - 2);
  bytes.resize(bytes.size() - 2);
  for (int i = 0; i < 300; ++i) bytes.insert(bytes.end(), scan.begin(), scan.end());
  bytes.push_back(0xFF);
  bytes.push_back(0xD9);
  EXPECT_THROW(decode_image(bytes, "scans.jpg"), DataError);
}

TEST(Hostile, PngCommentsAreNotInflated) {
  // Twenty MiB of zeros in a zTXt of 20 KiB.
  const std::string text(20 << 20, '\0');
  uLongf size = compressBound(uLong(text.size()));
  Bytes packed(size);
  compress(packed.data(), &size, reinterpret_cast<const Bytef*>(text.data()), uLong(text.size()));
  Bytes content{'k', 0, 0};
  content.insert(content.end(), packed.begin(), packed.begin() + std::ptrdiff_t(size));
  const Bytes chunk = testing::make_png_chunk("zTXt", content);
  Bytes bytes = encode_png(photo_like(4, 4));
  bytes.insert(bytes.begin() + 33, chunk.begin(), chunk.end());
  EXPECT_EQ(decode_image(bytes, "comment.png"), photo_like(4, 4));
}

}  // namespace
}  // namespace addp
