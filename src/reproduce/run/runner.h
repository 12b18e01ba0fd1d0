// Runs the jobs of a plan, several side by side, and goes on where an earlier run was stopped.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reproduce/run/workplace.h"

namespace addp {

struct RunnerOptions {
  std::int64_t jobs = 1;                  // side by side
  std::vector<std::string> program;       // what every call begins with
  std::vector<std::string> launcher{};    // before it, for trainings
  std::vector<std::string> every_call{};  // behind the words of all, and of trainings
  std::vector<std::string> every_training{};
};

using ToldOfJob = std::function<void(const StudyJob&, const std::optional<JobResult>&)>;

struct RunnerReport {
  std::map<std::string, std::string> failed;  // the job, and what it said
  std::vector<std::string> left;              // not run, because what they need has failed
};

// Jobs that are done are left alone. `told` hears of each that ends, with its result if it has one.
// A failed job does not stop those that do not need it; called again, it is tried again. An
// interrupt lets the children save and is an InterruptedError.
RunnerReport run_jobs(const Workplace& workplace, const RunnerOptions& options,
                      const ToldOfJob& told);

}  // namespace addp
