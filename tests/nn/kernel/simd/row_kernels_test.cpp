#include "nn/kernel/simd/row_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace addp {
namespace {

TEST(RowKernels, CrossEntropySurvivesExtremeLogits) {
  for (const std::int64_t classes : {1, 7, 8, 9, 40}) {
    std::vector<float> logits(static_cast<std::size_t>(classes), -1e4F), gradient(logits);
    logits.back() = 1e4F;
    const CrossEntropyRow row{.classes = classes, .label = classes - 1, .share = 1};
    EXPECT_EQ(cross_entropy_row(row, logits.data(), gradient.data(), 1), 0);
    for (const float g : gradient) EXPECT_NEAR(g, 0, 1e-6);
  }
}

TEST(RowKernels, DropoutDoesNotDependOnTheSplit) {
  constexpr std::int64_t kCount = 1000;
  std::vector<float> in(kCount, 1), whole(kCount), parts(kCount);
  dropout_span(in.data(), whole.data(), 0, kCount, 99, 0.3);
  for (std::int64_t begin = 0; begin < kCount; begin += 37) {
    const std::int64_t count = std::min<std::int64_t>(37, kCount - begin);
    dropout_span(in.data() + begin, parts.data() + begin, begin, count, 99, 0.3);
  }
  EXPECT_EQ(whole, parts);
}

TEST(RowKernels, DropoutIsFairAndKeysDiffer) {
  constexpr std::int64_t kCount = 100000;
  std::vector<float> in(kCount, 1), a(kCount), b(kCount);
  for (const double rate : {0.1, 0.5}) {
    dropout_span(in.data(), a.data(), 0, kCount, 1, rate);
    dropout_span(in.data(), b.data(), 0, kCount, 2, rate);
    double dropped = 0, both = 0, neighbours = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      dropped += a[i] == 0;
      both += a[i] == 0 && b[i] == 0;
      neighbours += i > 0 && a[i] == 0 && a[i - 1] == 0;
    }
    EXPECT_NEAR(dropped / kCount, rate, 0.01);
    EXPECT_NEAR(both / kCount, rate * rate, 0.01) << "two keys are not independent";
    EXPECT_NEAR(neighbours / kCount, rate * rate, 0.01) << "neighbours are not independent";
  }
}

TEST(RowKernels, DropoutReachesBeyondThirtyTwoBits) {
  std::vector<float> in(64, 1), low(64), high(64);
  dropout_span(in.data(), low.data(), 0, 64, 5, 0.5);
  dropout_span(in.data(), high.data(), std::int64_t{1} << 32, 64, 5, 0.5);
  EXPECT_NE(low, high);
}

}  // namespace
}  // namespace addp
