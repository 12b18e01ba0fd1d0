// How long a plan will take on this machine, measured on a few steps of every kind of job.
#pragma once

#include <map>
#include <string>

#include "reproduce/run/runner.h"

namespace addp {

// Seconds of a job of `units`: fixed + per_unit * units.
struct Line {
  double fixed = 0, per_unit = 0;
  double at(double units) const { return fixed + per_unit * units; }
};
// The line through two measured points, with nothing below zero.
Line line_through(double units, double seconds, double more_units, double more_seconds);

// By the clock, which other work on the machine lengthens, and by the processor's.
struct Rate {
  Line seconds, core_seconds;
};
using Rates = std::map<std::string, Rate>;  // by kind

// The first job of each kind, with `units` as their lengths at most: a plan of its own, in which
// they stand for all jobs of their kinds.
Plan trial_plan(const Workplace& workplace, std::int64_t units);

// Measured under OUT/trial, or taken from there. Kinds whose trial failed have no rate.
Rates measure_rates(const Workplace& workplace, const RunnerOptions& options);

struct Estimate {
  double core_seconds = 0;  // of what is not done
  double seconds = 0;       // with `jobs` side by side
  std::map<std::string, double> of_job{};
  std::int64_t unknown = 0;  // jobs without a rate
};
// Jobs that are done take no time.
Estimate estimate(const Workplace& workplace, const Rates& rates, std::int64_t jobs);

}  // namespace addp
