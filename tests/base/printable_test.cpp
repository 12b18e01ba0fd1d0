#include "base/printable.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace addp {
namespace {

TEST(Printable, ControlCharactersAreShownNotObeyed) {
  EXPECT_EQ(printable("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(printable("\033[2Jx\r\x07\x7f"), "\\x1b[2Jx\\x0d\\x07\\x7f");
  EXPECT_EQ(printable("caf\xC3\xA9 \xC2\x9B"
                      "31m"),
            "caf\xC3\xA9 \\x9b31m");
}

TEST(Printable, WhatIsNotUtf8IsReplaced) {
  EXPECT_EQ(valid_utf8("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(valid_utf8("a\xFFz\xC3"), "a\xEF\xBF\xBDz\xEF\xBF\xBD");
  const nlohmann::json named = {{"name", "a\xFFz"}};
  EXPECT_EQ(nlohmann::json::parse(json_text(named))["name"], "a\xEF\xBF\xBDz");
}

}  // namespace
}  // namespace addp
