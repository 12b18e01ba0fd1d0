#include "image/codec/stored_as.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace addp {
namespace {

Image some_picture() {
  Image image(32, 32);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>((i * i / 7 + 5 * i) % 251);
  }
  return image;
}

double distance(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += std::abs(int(a.pixels[i]) - b.pixels[i]);
  return sum / static_cast<double>(a.pixels.size());
}

TEST(StoredAs, IsReadFromItsText) {
  EXPECT_EQ(stored_as("png").extension(), ".png");
  EXPECT_EQ(stored_as("jpg").quality, 95);
  EXPECT_EQ(stored_as("jpeg:40").quality, 40);
  EXPECT_EQ(stored_as("webp:90").extension(), ".webp");
  for (const char* text : {"", "gif", "png:3", "jpg:", "jpg:0", "webp:101", "webp:9x", "webp:-1"}) {
    EXPECT_THROW(stored_as(text), UsageError) << text;
  }
}

TEST(StoredAs, ChangesPixelsAsTheFormatDoes) {
  const Image image = some_picture();
  EXPECT_EQ(through_file(image, stored_as("png")).pixels, image.pixels);
  EXPECT_EQ(through_file(image, stored_as("webp:100")).pixels, image.pixels);
  for (const std::string name : {"jpg", "webp"}) {
    const double good = distance(image, through_file(image, stored_as(name + ":95"))),
                 poor = distance(image, through_file(image, stored_as(name + ":20")));
    EXPECT_GT(good, 0) << name;
    EXPECT_GT(poor, good) << name;
    const Bytes bytes = encode_image(image, stored_as(name + ":95"));
    EXPECT_EQ(sniff_image_format(bytes), stored_as(name).format);
  }
}

}  // namespace
}  // namespace addp
