#include "base/file/base64.h"

#include <gtest/gtest.h>

namespace addp {
namespace {

std::string encoded(const std::string& text) {
  return base64(ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

std::string decoded(std::string_view text) {
  const auto bytes = from_base64(text);
  return bytes ? std::string(bytes->begin(), bytes->end()) : "not base64";
}

TEST(Base64, Encodes) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

TEST(Base64, DecodesWhatItEncodes) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(decoded(encoded(text)), text);
    text += static_cast<char>(i * 7);
  }
}

TEST(Base64, TakesLineBreaksAndMissingPadding) {
  EXPECT_EQ(decoded("Zm9v\r\nYmFy"), "foobar");
  EXPECT_EQ(decoded("Zg"), "f");
  EXPECT_EQ(decoded("Zm8"), "fo");
}

TEST(Base64, RefusesWhatIsNot) {
  for (const char* text :
       {"Z", "Zg=", "Zg=a", "Zm9v=", "a b=", "Zm9vY", "Zg===", "====", "\x80\x80"}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

}  // namespace
}  // namespace addp
