#include "server/routes/metrics.h"

#include <gtest/gtest.h>

namespace addp {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

TEST(ServiceMetrics, ArePrometheusText) {
  ServiceMetrics metrics;
  metrics.count_request("/a", 200, 0.003);
  metrics.count_request("/a", 200, 0.3);
  metrics.count_request("/a", 503, 100);
  metrics.count_pictures("made", 3);
  const std::string text = metrics.text({.jobs = 2, .pictures = 7, .batches = 4}, 5);
  EXPECT_TRUE(has_line(text, "addp_requests_total{route=\"/a\",status=\"200\"} 2"));
  EXPECT_TRUE(has_line(text, "addp_requests_total{route=\"/a\",status=\"503\"} 1"));
  EXPECT_TRUE(has_line(text, "addp_request_seconds_bucket{route=\"/a\",le=\"0.005\"} 1"));
  EXPECT_TRUE(has_line(text, "addp_request_seconds_bucket{route=\"/a\",le=\"0.5\"} 2"));
  EXPECT_TRUE(has_line(text, "addp_request_seconds_bucket{route=\"/a\",le=\"+Inf\"} 3"));
  EXPECT_TRUE(has_line(text, "addp_request_seconds_count{route=\"/a\"} 3"));
  EXPECT_TRUE(has_line(text, "addp_pictures_total{kind=\"made\"} 3"));
  EXPECT_TRUE(has_line(text, "addp_queue_pictures 7"));
  EXPECT_TRUE(has_line(text, "addp_connections 5"));
  EXPECT_GT(resident_bytes(), 1 << 20);
}

}  // namespace
}  // namespace addp
