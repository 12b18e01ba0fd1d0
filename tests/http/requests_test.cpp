#include "server/requests/requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "http/status.h"
#include "image/codec/codec.h"
#include "server/http/http_error.h"
#include "server/requests/describe.h"
#include "server/requests/openai.h"
#include "server/requests/pictures.h"

namespace addp {
namespace {

using testing::status;

Fields fields_of(std::map<std::string, std::string> texts) {
  Fields fields;
  fields.texts = std::move(texts);
  return fields;
}

TEST(Requests, AreFilledAndChecked) {
  const auto request = parse_request<MakeRequest>(fields_of({{"steps", "8"},
                                                             {"schedule", "linear"},
                                                             {"n", "3"},
                                                             {"stream", "true"},
                                                             {"guidance", "2.5"}}));
  EXPECT_EQ(request.sampler.steps, 8);
  EXPECT_EQ(request.sampler.curve, MaskCurve::kLinear);
  EXPECT_EQ(request.count, 3);
  EXPECT_TRUE(request.stream);
  EXPECT_EQ(request.sampler.guidance, 2.5);
}

TEST(Requests, RefuseWhatIsOutOfBounds) {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"steps", "0"},
                                                        {"steps", "257"},
                                                        {"count", "65"},
                                                        {"count", "-1"},
                                                        {"seed", "-1"},
                                                        {"top-p", "nan"},
                                                        {"top-p", "2"},
                                                        {"temperature", "inf"},
                                                        {"schedule", "square"},
                                                        {"steps", "8.5"},
                                                        {"unknown", "1"},
                                                        {"stream", "maybe"}}) {
    EXPECT_THROW(parse_request<MakeRequest>(fields_of({{name, value}})), UsageError)
        << name << value;
  }
}

TEST(Requests, DescribeThemselves) {
  const nlohmann::json schema = schema_of<MakeRequest>();
  EXPECT_EQ(schema["top_p"]["type"], "number");
  EXPECT_EQ(schema["steps"]["maximum"], RequestLimits::kSteps);
  EXPECT_EQ(schema["schedule"]["enum"][1], "linear");
  EXPECT_EQ(schema["count"]["default"], 1);
  EXPECT_EQ(schema_of<EditRequest>()["box"]["type"], "array");
}

TEST(OpenAi, TakesItsOwnFields) {
  Fields fields = fields_of({{"prompt", "a Red Cell, please"},
                             {"n", "2"},
                             {"size", "64x64"},
                             {"user", "u"},
                             {"response-format", "url"},
                             {"seed", "5"},
                             {"quality", "hd"}});
  const OpenAiRequest openai = take_openai_fields(fields);
  EXPECT_TRUE(openai.as_url());
  EXPECT_EQ(fields.texts.size(), 2u);  // n and seed
  EXPECT_EQ(class_in_prompt(openai.prompt, {"cell", "red cell", "ed"}), "red cell");
  EXPECT_EQ(class_in_prompt("nothing of it", {"cell", ""}), std::nullopt);
  EXPECT_NO_THROW(check_size("64x64", 64, 64));
  EXPECT_NO_THROW(check_size("auto", 64, 64));
  EXPECT_THROW(check_size("1024x1024", 64, 64), HttpError);
  Fields jpeg = fields_of({{"output-format", "jpeg"}});
  EXPECT_THROW(take_openai_fields(jpeg), HttpError);
  Fields streamed = fields_of({{"stream", "true"}});
  EXPECT_THROW(take_openai_fields(streamed), HttpError);
}

void put(Bytes& bytes, std::size_t at, std::uint32_t value, int length) {
  for (int i = 0; i < length; ++i) {
    bytes.at(at + std::size_t(i)) = std::uint8_t(value >> (8 * (length - 1 - i)));
  }
}

std::uint32_t crc(const std::uint8_t* data, std::size_t size) {
  std::uint32_t value = ~0u;
  for (std::size_t i = 0; i < size; ++i) {
    value ^= data[i];
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~value;
}

// Files whose headers claim a size, with the pixels of a small one behind them, and long enough for
// that of 64 megapixels.
constexpr std::size_t kLong = 200'000;

Bytes claimed_png(std::uint32_t width, std::uint32_t height) {
  Bytes png = encode_png(Image(2, 2));
  put(png, 16, width, 4);
  put(png, 20, height, 4);
  put(png, 29, crc(png.data() + 12, 17), 4);
  png.resize(kLong);
  return png;
}

Bytes claimed_jpeg(std::uint32_t width, std::uint32_t height) {
  Bytes jpeg = encode_jpeg(Image(8, 8));
  const std::array<std::uint8_t, 2> frame = {0xFF, 0xC0};
  const auto at = std::search(jpeg.begin(), jpeg.end(), frame.begin(), frame.end());
  put(jpeg, std::size_t(at - jpeg.begin()) + 5, height, 2);
  put(jpeg, std::size_t(at - jpeg.begin()) + 7, width, 2);
  jpeg.resize(kLong);
  return jpeg;
}

TEST(Pictures, AreCheckedBeforeTheyAreDecoded) {
  EXPECT_EQ(decode_upload(encode_png(Image(3, 2)), "image").width, 3);
  EXPECT_EQ(status([] { decode_upload(Bytes{'G', 'I', 'F', '8', '9', 'a'}, "image"); }), 400);
  EXPECT_EQ(status([] { decode_upload(Bytes{}, "image"); }), 400);
  EXPECT_EQ(decode_upload(claimed_png(2, 2), "image").width, 2);
  EXPECT_EQ(status([] { decode_upload(claimed_png(8000, 8001), "image"); }), 413);
  EXPECT_EQ(status([] { decode_upload(claimed_jpeg(8000, 8001), "image"); }), 413);
  EXPECT_EQ(status([] { decode_hole(claimed_png(8000, 8001), "image"); }), 413);
  // No file of that length holds so much: it is broken.
  EXPECT_EQ(status([] { decode_upload(claimed_png(60000, 60000), "image"); }), 400);
  EXPECT_EQ(status([] { decode_upload(claimed_png(2'000'000'000, 1), "image"); }), 400);
  Bytes jpeg = encode_jpeg(Image(8, 8));
  jpeg.resize(jpeg.size() / 2);
  EXPECT_NO_FATAL_FAILURE(status([&] { decode_upload(jpeg, "image"); }));
}

TEST(Pictures, MasksAreBright) {
  Image image(2, 1);
  image.at(1, 0)[2] = 200;
  const GrayImage mask = decode_mask(encode_png(image), "mask");
  EXPECT_EQ(mask.pixels, (std::vector<std::uint8_t>{0, 200}));
  EXPECT_FALSE(decode_hole(encode_png(image), "image"));
  EXPECT_EQ(decode_openai_mask(encode_png(image), "mask").pixels, mask.pixels);
}

}  // namespace
}  // namespace addp
