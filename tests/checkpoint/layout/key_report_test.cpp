#include "checkpoint/layout/key_report.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace addp {
namespace {

TensorView zeros(std::vector<std::int64_t> shape) {
  const auto count = checked_numel(shape).value();
  return make_tensor(DType::kU8, std::move(shape), Bytes(static_cast<std::size_t>(count)));
}

TEST(KeyReport, EverythingAtOnce) {
  const ShapeMap expected{{"a", {2}}, {"b", {2, 3}}, {"c.x", {1}}, {"c.y", {1}}, {"d", {1}}};
  const TensorMap found{{"a", zeros({2})},
                        {"b", zeros({3, 2})},
                        {"e", zeros({1})},
                        {"f.1", zeros({1})},
                        {"f.2", zeros({1})}};
  const KeyReport report = compare_keys(expected, found, {{"c.*"}, {"f.*"}});
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.missing, std::vector<std::string>{"d"});
  EXPECT_EQ(report.unexpected, std::vector<std::string>{"e"});
  ASSERT_EQ(report.mis_shaped.size(), 1u);
  EXPECT_EQ(report.mis_shaped[0].found, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(report.ignored, (std::vector<std::string>{"f.1", "f.2"}));
  EXPECT_EQ(report.matched, 1u);
  try {
    report.require("m.pth");
    ADD_FAILURE() << "accepted";
  } catch (const DataError& error) {
    const std::string text = error.what();
    for (const char* part :
         {"m.pth", "missing     d", "unexpected  e", "b: expected [2, 3], found [3, 2]"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
  }
}

TEST(KeyReport, EqualKeysPass) {
  const KeyReport report = compare_keys({{"a", {2}}}, {{"a", zeros({2})}});
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.to_string(), "");
  EXPECT_NO_THROW(report.require("x"));
}

TEST(KeyReport, Patterns) {
  EXPECT_TRUE(matches_pattern("decoder_pred.weight", "decoder_pred.*"));
  EXPECT_TRUE(matches_pattern("a.b.num_batches_tracked", "*.num_batches_tracked"));
  EXPECT_TRUE(matches_pattern("a", "*"));
  EXPECT_TRUE(matches_pattern("", "*"));
  EXPECT_TRUE(matches_pattern("abcabd", "*ab*d"));
  EXPECT_FALSE(matches_pattern("decoder_pred.weight", "decoder_pred"));
  EXPECT_FALSE(matches_pattern("abc", "*b"));
  EXPECT_FALSE(matches_pattern("", "a"));
}

TEST(KeyReport, Prefix) {
  const TensorMap all{{"v.a", zeros({1})}, {"v.b", zeros({2})}, {"w", zeros({3})}};
  const TensorMap inside = with_prefix_removed(all, "v.");
  ASSERT_EQ(inside.size(), 2u);
  EXPECT_EQ(inside.at("b").shape, std::vector<std::int64_t>{2});
}

}  // namespace
}  // namespace addp
