#include "base/run/progress.h"

#include <gtest/gtest.h>

#include <limits>

namespace addp {
namespace {

TEST(Progress, Formats) {
  EXPECT_EQ(format_duration(0.4), "0s");
  EXPECT_EQ(format_duration(65), "1m 05s");
  EXPECT_EQ(format_duration(3720), "1h 02m");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(12345), "12,345");
  EXPECT_EQ(format_count(86'400'000), "86.4M");
  EXPECT_EQ(format_count(304'000'000), "304M");
}

TEST(Progress, PlainLineHasFiguresAndNote) {
  ::testing::internal::CaptureStderr();
  {
    Progress progress("train", 10, "steps");
    progress.update(10, "loss 1.5");
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("train 100% 10/10 steps, "), std::string::npos) << text;
  EXPECT_NE(text.find("took 0s, loss 1.5\n"), std::string::npos) << text;
}

TEST(Progress, QuietPrintsNothing) {
  ::testing::internal::CaptureStderr();
  set_progress_quiet(true);
  { Progress progress("train", 10, "steps"); }
  set_progress_quiet(false);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace addp
