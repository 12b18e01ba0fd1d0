#include "checkpoint/format/tensor_cast.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace addp {
namespace {

TEST(TensorCast, EveryHalfSurvivesTheWayToFloatAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float wide = half_to_float(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(wide))));
    } else {
      ASSERT_EQ(float_to_half(wide), half) << bits;
    }
    if (!std::isnan(bfloat16_to_float(half))) {
      ASSERT_EQ(float_to_bfloat16(bfloat16_to_float(half)), half);
    }
  }
}

TEST(TensorCast, KnownHalves) {
  EXPECT_EQ(half_to_float(0x3c00), 1.0f);
  EXPECT_EQ(half_to_float(0xc000), -2.0f);
  EXPECT_EQ(half_to_float(0x7bff), 65504.0f);
  EXPECT_EQ(half_to_float(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(1e30f), 0x7c00);
  EXPECT_EQ(float_to_half(-1e-30f), 0x8000);
}

// To nearest means: no neighbour is nearer, and of two equally near ones the even one is taken.
TEST(TensorCast, RoundsToNearestEven) {
  for (std::uint16_t half = 0; half < 0x7bff; ++half) {
    const float low = half_to_float(half),
                high = half_to_float(static_cast<std::uint16_t>(half + 1));
    const float middle = (low + high) / 2;  // exact in float
    ASSERT_EQ(float_to_half(middle), (half & 1) != 0 ? half + 1 : half) << half;
    ASSERT_EQ(float_to_half(std::nextafter(middle, 0.0f)), half) << half;
    ASSERT_EQ(float_to_half(std::nextafter(middle, 1e9f)), half + 1) << half;
  }
  EXPECT_EQ(float_to_bfloat16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(float_to_bfloat16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(float_to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(TensorCast, TensorsAndBadNumbers) {
  const std::vector<float> values{1, -0.5f, std::nanf(""), 1e6f};
  Bytes bytes(16);
  std::memcpy(bytes.data(), values.data(), 16);
  const TensorView tensor = make_tensor(DType::kF32, {2, 2}, bytes);
  EXPECT_EQ(count_non_finite(tensor), 1u);
  EXPECT_EQ(count_non_finite(cast_floating(tensor, DType::kF16)), 2u);
  EXPECT_EQ(count_non_finite(cast_floating(tensor, DType::kBF16)), 1u);
  EXPECT_EQ(count_non_finite(cast_floating(tensor, DType::kF64)), 1u);
  const TensorView whole = make_tensor(DType::kI32, {4}, bytes);
  EXPECT_EQ(count_non_finite(whole), 0u);
  EXPECT_EQ(cast_floating(whole, DType::kF16).dtype, DType::kI32);
  const TensorView back = cast_floating(cast_floating(tensor, DType::kBF16), DType::kF32);
  float second = 0;
  std::memcpy(&second, back.bytes.data() + 4, 4);
  EXPECT_EQ(second, -0.5f);
}

}  // namespace
}  // namespace addp
