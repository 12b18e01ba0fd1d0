#include "server/routes/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace addp {
namespace {

std::string family(const char* name, const char* type, const char* help) {
  return fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <class Value>
std::string single(const char* name, const char* type, const char* help, Value value) {
  return family(name, type, help) + fmt::format("{} {}\n", name, value);
}

}  // namespace

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

void ServiceMetrics::count_request(const std::string& route, int status, double seconds) {
  std::unique_lock lock(mutex_);
  ++requests_[{route, status}];
  Histogram& histogram = seconds_[route];
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  ++histogram.counts[static_cast<std::size_t>(bound - kBounds.begin())];
  histogram.sum += seconds;
}

void ServiceMetrics::count_pictures(const std::string& kind, std::int64_t pictures) {
  std::unique_lock lock(mutex_);
  pictures_[kind] += pictures;
}

std::string ServiceMetrics::text(const QueueState& queue, std::int64_t connections) const {
  std::unique_lock lock(mutex_);
  std::string out = family("addp_requests_total", "counter", "Requests by route and status.");
  for (const auto& [key, count] : requests_) {
    out += fmt::format("addp_requests_total{{route=\"{}\",status=\"{}\"}} {}\n", key.first,
                       key.second, count);
  }
  out += family("addp_request_seconds", "histogram", "Time from request to the end of the answer.");
  for (const auto& [route, histogram] : seconds_) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i <= kBounds.size(); ++i) {
      sum += histogram.counts[i];
      const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
      out += fmt::format("addp_request_seconds_bucket{{route=\"{}\",le=\"{}\"}} {}\n", route, bound,
                         sum);
    }
    out += fmt::format("addp_request_seconds_sum{{route=\"{}\"}} {}\n", route, histogram.sum);
    out += fmt::format("addp_request_seconds_count{{route=\"{}\"}} {}\n", route, sum);
  }
  out += family("addp_pictures_total", "counter", "Pictures made or looked at.");
  for (const auto& [kind, count] : pictures_) {
    out += fmt::format("addp_pictures_total{{kind=\"{}\"}} {}\n", kind, count);
  }
  out += single("addp_queue_jobs", "gauge", "Requests that wait to be computed.", queue.jobs);
  out += single("addp_queue_pictures", "gauge", "Pictures that wait.", queue.pictures);
  out += single("addp_running_pictures", "gauge", "Pictures in the present batch.", queue.running);
  out += single("addp_batches_total", "counter", "Batches computed.", queue.batches);
  out += single("addp_batch_pictures_total", "counter", "Pictures in them.", queue.computed);
  out += single("addp_compute_seconds_total", "counter", "Time spent computing.", queue.seconds);
  out += single("addp_cancelled_total", "counter", "Requests whose client went away.",
                queue.cancelled);
  out += single("addp_connections", "gauge", "Open connections.", connections);
  out +=
      single("process_resident_memory_bytes", "gauge", "Memory of the process.", resident_bytes());
  out += single("process_start_time_seconds", "gauge", "Start of the process.",
                std::chrono::duration<double>(start_.time_since_epoch()).count());
  return out;
}

}  // namespace addp
