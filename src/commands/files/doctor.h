// addp doctor: what a file or folder is and what can be done with it.
#pragma once

#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"

namespace addp {

struct DoctorOptions {
  std::vector<std::string> paths;
  std::string preset;
  std::int64_t threads = 0;
  std::int64_t list = 20;

  void describe(Options& o) {
    o.add("paths", paths,
          "checkpoints, models by name, pictures, folders, archives, shards or lists")
        .positional()
        .metavar("PATH...");
    o.add("preset", preset,
          "print the parameter counts of a network size: nano, tiny, small, base, large, "
          "resnet-pico, resnet-nano, resnet50")
        .metavar("NAME");
    o.add("threads", threads, "threads that look through pictures; 0: one per core").range(0, 1024);
    o.add("list", list, "how many broken or odd pictures to name at the most").range(0, 1e9);
  }
};

// Every path is looked at; if any cannot be used, a DataError follows the report.
void run(const DoctorOptions& options, const RunContext& context);

}  // namespace addp
