// addp doctor --preset: the parameter counts of a network size. It builds the networks, so it is a
// command of libaddp.so.
#pragma once

#include <string>

#include "base/run/run_context.h"

namespace addp {

struct PresetReportOptions {
  std::string preset;
};

void run(const PresetReportOptions& options, const RunContext& context);

}  // namespace addp
