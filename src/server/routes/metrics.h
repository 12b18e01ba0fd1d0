// What the service counts, in Prometheus' text form.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "server/jobs/queue.h"

namespace addp {

class ServiceMetrics {
 public:
  void count_request(const std::string& route, int status, double seconds);
  void count_pictures(const std::string& kind, std::int64_t pictures);
  std::string text(const QueueState& queue, std::int64_t connections) const;

 private:
  static constexpr std::array<double, 11> kBounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                     0.5,   1,    2.5,   5,    10};
  struct Histogram {
    std::array<std::int64_t, kBounds.size() + 1> counts{};
    double sum = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::int64_t> requests_;
  std::map<std::string, Histogram> seconds_;
  std::map<std::string, std::int64_t> pictures_;
  std::chrono::system_clock::time_point start_ = std::chrono::system_clock::now();
};

std::int64_t resident_bytes();  // of this process

}  // namespace addp
