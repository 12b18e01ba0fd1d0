// addp bench --profile: where the time of a measured piece of work went, by kind of layer.
#pragma once

#include <nlohmann/json.hpp>

#include "machine/operation_profile.h"

namespace addp {

// Floating-point operations per second that this machine reaches where nothing is in the way: its
// own peak.
struct Peak {
  double products = 0, convolutions = 0;
};
Peak measure_peak(bool bf16);

// Everything per picture; what is left of `seconds` is the work between the operations.
struct ProfiledWork {
  std::vector<OperationRow> rows;
  double seconds = 0;
  std::int64_t pictures = 0;
  double processor_seconds = 0;  // of all threads
};
std::string profile_text(const ProfiledWork& work, const Peak& peak);
nlohmann::json profile_json(const ProfiledWork& work);

}  // namespace addp
