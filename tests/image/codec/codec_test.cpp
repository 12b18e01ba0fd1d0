#include "image/codec/codec.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "image/codec/animation.h"
#include "image/codec/exif.h"
#include "image/fixture_pictures.h"
#include "image/sample_files.h"

namespace addp {
namespace {

using testing::CmykKind;
using testing::largest_difference;
using testing::make_cmyk_jpeg;
using testing::make_jpeg;
using testing::make_png;
using testing::photo_like;
using testing::PngKind;

std::array<int, 3> pixel(const Image& image, int x, int y) {
  return {image.at(x, y)[0], image.at(x, y)[1], image.at(x, y)[2]};
}

TEST(Codec, SniffsByContent) {
  const Image image = photo_like(9, 7);
  EXPECT_EQ(sniff_image_format(encode_jpeg(image)), ImageFormat::kJpeg);
  EXPECT_EQ(sniff_image_format(encode_png(image)), ImageFormat::kPng);
  EXPECT_EQ(sniff_image_format(encode_webp(image)), ImageFormat::kWebp);
  EXPECT_EQ(sniff_image_format(Bytes{'B', 'M'}), ImageFormat::kUnknown);
  EXPECT_EQ(sniff_image_format({}), ImageFormat::kUnknown);
}

TEST(Codec, RoundTrips) {
  for (const auto& [w, h] : {std::pair{1, 1}, {1, 33}, {37, 2}, {64, 48}}) {
    const Image image = photo_like(w, h);
    EXPECT_EQ(decode_image(encode_png(image), "a.png"), image);
    EXPECT_EQ(decode_image(encode_webp(image, 100), "a.webp"), image);
    EXPECT_LE(largest_difference(decode_image(encode_jpeg(image), "a.jpg"), image), 12);
    EXPECT_LE(largest_difference(decode_image(encode_webp(image, 95), "a.webp"), image), 60);
    GrayImage labels(w, h);
    for (std::size_t i = 0; i < labels.pixels.size(); ++i) labels.pixels[i] = std::uint8_t(i * 37);
    EXPECT_EQ(decode_labels(encode_png(labels), "a.png"), labels);
  }
}

TEST(Codec, UnreadableThingsAreNamed) {
  for (const Bytes& bytes : {Bytes{}, Bytes{'B', 'M', 1, 2, 3}}) {
    try {
      decode_image(bytes, "odd.bmp");
      FAIL();
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("odd.bmp"), std::string::npos);
    }
    EXPECT_THROW(read_image_info(bytes, "odd.bmp"), DataError);
    EXPECT_THROW(decode_labels(bytes, "odd.bmp"), DataError);
  }
}

TEST(Codec, EncodersRefuseNonsense) {
  EXPECT_THROW(encode_jpeg(Image()), UsageError);
  EXPECT_THROW(encode_png(Image()), UsageError);
  EXPECT_THROW(encode_webp(Image()), UsageError);
  EXPECT_THROW(encode_jpeg(Image(2, 2), 0), UsageError);
  EXPECT_THROW(encode_webp(Image(2, 2), 101), UsageError);
  EXPECT_THROW(encode_webp(Image(20000, 1)), UsageError);
}

TEST(Codec, FilesChooseTheFormatByExtension) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("addp_codec_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const Image image = photo_like(20, 10);
  for (const char* name : {"a.PNG", "a.jpg", "a.jpeg", "a.webp"}) {
    save_image(folder / name, image);
    EXPECT_LE(largest_difference(load_image(folder / name), image), 70) << name;
  }
  EXPECT_EQ(sniff_image_format(read_file(folder / "a.PNG")), ImageFormat::kPng);
  EXPECT_THROW(save_image(folder / "a.tif", image), UsageError);
  EXPECT_THROW(load_image(folder / "none.png"), Error);
  std::filesystem::remove_all(folder);
}

TEST(Jpeg, EveryKindDecodes) {
  const Image image = photo_like(53, 39);
  for (const int h : {1, 2, 4}) {
    for (const int v : {1, 2, 4}) {
      if (h * v > 8) continue;  // JPEG's limit of blocks a unit
      for (const bool progressive : {false, true}) {
        testing::JpegKind kind;
        kind.h_sampling = h;
        kind.v_sampling = v;
        kind.progressive = progressive;
        kind.restart_rows = h == v ? 1 : 0;
        const Image out = decode_image(make_jpeg(image, kind), "a.jpg");
        EXPECT_LE(largest_difference(out, image), 24 * std::max(h, v)) << h << v << progressive;
      }
    }
  }
  testing::JpegKind arithmetic;
  arithmetic.arithmetic = true;
  EXPECT_LE(largest_difference(decode_image(make_jpeg(image, arithmetic), "a.jpg"), image), 48);
}

TEST(Jpeg, GreyBecomesRgb) {
  testing::JpegKind kind;
  kind.gray = true;
  const Bytes bytes = make_jpeg(photo_like(30, 20), kind);
  EXPECT_EQ(read_image_info(bytes, "a.jpg").channels, 1);
  const Image out = decode_image(bytes, "a.jpg");
  const GrayImage gray = decode_labels(bytes, "a.jpg");
  for (std::size_t i = 0; i < gray.pixels.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(out.pixels[i * 3 + c], gray.pixels[i]);
  }
  EXPECT_THROW(decode_labels(make_jpeg(photo_like(30, 20)), "a.jpg"), DataError);
}

TEST(Jpeg, CmykBecomesRgb) {
  const Image image = photo_like(40, 24);
  for (const auto kind : {CmykKind::kAdobeInverted, CmykKind::kAdobeYcck, CmykKind::kPlain}) {
    const Bytes bytes = make_cmyk_jpeg(image, kind);
    EXPECT_EQ(read_image_info(bytes, "a.jpg").channels, 4);
    EXPECT_LE(largest_difference(decode_image(bytes, "a.jpg"), image), 12) << int(kind);
  }
}

TEST(Jpeg, ScaledDecodingKeepsTheShortSide) {
  const Bytes bytes = encode_jpeg(photo_like(400, 250));
  for (const auto& [min_side, width] : {std::pair{0, 400},
                                        {251, 400},
                                        {126, 400},
                                        {125, 200},
                                        {63, 200},
                                        {62, 100},
                                        {31, 50},
                                        {1, 50}}) {
    DecodeOptions options;
    options.min_side = min_side;
    const Image out = decode_image(bytes, "a.jpg", options);
    EXPECT_EQ(out.width, width) << min_side;
    EXPECT_GE(out.height, std::min(min_side, 250));
  }
}

TEST(Png, EveryKindDecodes) {
  constexpr int kWidth = 13, kHeight = 9;
  for (const bool interlaced : {false, true}) {
    for (const int type : {0, 2, 3, 4, 6}) {
      for (const int bits : {1, 2, 4, 8, 16}) {
        if ((type != 0 && type != 3 && bits < 8) || (type == 3 && bits == 16)) continue;
        const int channels = type == 2 ? 3 : type == 4 ? 2 : type == 6 ? 4 : 1;
        std::vector<std::uint16_t> samples;
        const int top = (1 << bits) - 1;
        for (int i = 0; i < kWidth * kHeight * channels; ++i) {
          samples.push_back(std::uint16_t(i * 7919 % (top + 1)));
        }
        const Bytes bytes = make_png(kWidth, kHeight, samples, {type, bits, interlaced});
        const Image out = decode_image(bytes, "a.png");
        const ImageInfo info = read_image_info(bytes, "a.png");
        EXPECT_EQ(info.channels, channels);
        EXPECT_EQ(info.bits, bits);
        ASSERT_EQ(out.width, kWidth);
        ASSERT_EQ(out.height, kHeight);
        for (std::size_t i = 0; i < std::size_t(kWidth * kHeight); ++i) {
          const std::uint16_t* sample = samples.data() + i * std::size_t(channels);
          const auto value = [&](int c) { return sample[c] * 255.0 / top; };
          const bool has_alpha = type == 4 || type == 6;
          const double alpha = has_alpha ? value(channels - 1) / 255 : 1;
          for (int c = 0; c < 3; ++c) {
            double expected = value(type == 2 || type == 6 ? c : 0);
            if (type == 3)
              expected =
                  std::array{sample[0] + 0, 255 - sample[0], 7 * sample[0] % 256}[std::size_t(c)];
            expected = expected * alpha + 255 * (1 - alpha);
            ASSERT_NEAR(out.pixels[i * 3 + std::size_t(c)], expected, 1.01)
                << type << " " << bits << " at " << i;
          }
        }
      }
    }
  }
}

TEST(Png, TransparentEntriesBecomeWhite) {
  for (const int type : {0, 2, 3}) {
    PngKind kind{type, 8};
    kind.transparent_entry = true;
    const std::size_t channels = type == 2 ? 3 : 1;
    std::vector<std::uint16_t> samples(2 * channels, 0);
    samples.back() = 5;
    const Image out = decode_image(make_png(2, 1, samples, kind), "a.png");
    EXPECT_EQ(pixel(out, 0, 0), (std::array{255, 255, 255})) << type;
    EXPECT_NE(pixel(out, 1, 0), (std::array{255, 255, 255})) << type;
  }
}

TEST(Png, LabelsAreTheStoredValues) {
  for (const int type : {0, 3}) {
    for (const int bits : {1, 2, 4, 8}) {
      std::vector<std::uint16_t> samples;
      for (int i = 0; i < 5 * 3; ++i) samples.push_back(std::uint16_t(i * 11 % (1 << bits)));
      const GrayImage labels = decode_labels(make_png(5, 3, samples, {type, bits}), "a.png");
      for (std::size_t i = 0; i < samples.size(); ++i) EXPECT_EQ(labels.pixels[i], samples[i]);
    }
  }
  EXPECT_THROW(decode_labels(encode_png(photo_like(3, 3)), "a.png"), DataError);
  EXPECT_THROW(decode_labels(make_png(1, 1, {300}, {0, 16}), "a.png"), DataError);
  EXPECT_THROW(decode_labels(make_png(1, 1, {3, 4}, {4, 8}), "a.png"), DataError);
  EXPECT_THROW(decode_labels(encode_webp(photo_like(3, 3)), "a.webp"), DataError);
}

TEST(Png, MetadataIsWhatLibpngReads) {
  const TextMetadata texts{{"prompt", "a plain line"},
                           {"seed", ""},
                           {"Autor", "Zoë — 加藤"},
                           {"long", std::string(100'000, 'x') + "\n\ttail"}};
  const Bytes bytes = encode_png(photo_like(5, 5), texts);
  EXPECT_EQ(testing::read_png_comments(bytes), texts);
  EXPECT_EQ(decode_image(bytes, "a.png"), photo_like(5, 5));
  EXPECT_TRUE(testing::read_png_comments(encode_png(GrayImage(2, 2))).empty());
  EXPECT_THROW(encode_png(photo_like(5, 5), {{"", "x"}}), UsageError);
  EXPECT_THROW(encode_png(photo_like(5, 5), {{std::string(80, 'k'), "x"}}), UsageError);
  EXPECT_THROW(encode_png(photo_like(5, 5), {{"k", std::string("a\0b", 3)}}), UsageError);
}

TEST(Webp, AlphaIsComposedOverWhite) {
  const Bytes bytes = testing::make_webp_rgba(2, 1, {10, 20, 30, 255, 100, 100, 100, 128});
  EXPECT_EQ(read_image_info(bytes, "a.webp").channels, 4);
  const Image out = decode_image(bytes, "a.webp");
  EXPECT_EQ(pixel(out, 0, 0), (std::array{10, 20, 30}));
  EXPECT_NEAR(pixel(out, 1, 0)[0], 100 * 128 / 255 + 127, 1);
}

TEST(Webp, AnimationShowsItsFirstFrame) {
  std::vector<Image> frames;
  for (int i = 0; i < 4; ++i) {
    frames.push_back(photo_like(24, 16));
    frames.back().at(3, 3)[0] = std::uint8_t(60 * i);
  }
  AnimationOptions options;
  options.quality = 100;
  options.last_ms = 900;
  const Bytes bytes = encode_webp_animation(frames, options);
  EXPECT_EQ(sniff_image_format(bytes), ImageFormat::kWebp);
  EXPECT_EQ(decode_image(bytes, "a.webp"), frames[0]);
  frames[2] = photo_like(23, 16);
  EXPECT_THROW(encode_webp_animation(frames, options), UsageError);
  EXPECT_THROW(encode_webp_animation({}, options), UsageError);
}

}  // namespace
}  // namespace addp
