#include "server/http/fields.h"

#include <gtest/gtest.h>

#include "http/status.h"
#include "server/http/http_error.h"

namespace addp {
namespace {

using testing::status;

Fields json_fields(const std::string& body) {
  Fields fields;
  add_body(fields, "application/json; charset=utf-8", std::string(body), {});
  return fields;
}

TEST(Fields, JsonBecomesTexts) {
  const Fields fields = json_fields(
      R"({"top_p": 0.5, "seed": 9007199254740993, "stream": true, "box": [1, 2, 3, 4], "class": "a,b", "model": null})");
  EXPECT_EQ(fields.texts.at("top-p"), "0.5");
  EXPECT_EQ(fields.texts.at("seed"), "9007199254740993");
  EXPECT_EQ(fields.texts.at("stream"), "true");
  EXPECT_EQ(fields.texts.at("box"), "1,2,3,4");
  EXPECT_EQ(fields.texts.at("class"), "a,b");
  EXPECT_FALSE(fields.texts.contains("model"));
}

TEST(Fields, WhatIsNoObjectOfFieldsIsRefused) {
  for (const char* body : {"[]", "3", "{", "{\"a\": {}}", "{\"a\": [[1]]}", "{\"a\": [\"x\"]}",
                           "{\"a\": 1}}", "nul"}) {
    EXPECT_EQ(status([&] { json_fields(body); }), 400) << body;
  }
  EXPECT_EQ(json_fields("").texts.size(), 0u);
}

TEST(Fields, DeepJsonIsRefused) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(status([&] { parse_json(nested(30), 32); }), 0);
  EXPECT_EQ(status([&] { parse_json(nested(40), 32); }), 400);
  EXPECT_EQ(status([&] { parse_json(std::string(20'000'000, '['), 32); }), 400);
}

TEST(Fields, OtherTypesAreRefused) {
  Fields fields;
  EXPECT_EQ(status([&] { add_body(fields, "text/plain", "hello", {}); }), 415);
  EXPECT_EQ(status([&] { add_body(fields, "", "hello", {}); }), 415);
  add_body(fields, "image/png", "abc", {});
  EXPECT_EQ(fields.file("image", "").size(), 3u);
}

TEST(Fields, FilesMayBeBase64) {
  Fields fields = json_fields(R"({"image": "data:image/png;base64,Zm9v", "mask": "YmFy"})");
  EXPECT_EQ(fields.file("image", "").size(), 3u);
  EXPECT_EQ(fields.find_file("mask")->front(), 'b');
  EXPECT_EQ(fields.find_file("other"), nullptr);
  EXPECT_FALSE(fields.texts.contains("image"));
  // Nothing that a client names is ever opened.
  for (const char* text :
       {"/etc/passwd.", "file:///etc/passwd", "http://127.0.0.1/x.png", "data:image/png,abc", ""}) {
    Fields bad;
    bad.texts["image"] = text;
    EXPECT_EQ(status([&] { bad.find_file("image"); }), 400) << text;
  }
}

}  // namespace
}  // namespace addp
