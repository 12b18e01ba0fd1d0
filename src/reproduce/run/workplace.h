// The folder of a reproduction: where each job works, what it printed, and which are done.
//
//   OUT/jobs/NAME-KEY/result.json   what the job printed; there is one if and only if it is done
//   OUT/jobs/NAME-KEY/log.txt       what it said while it ran
//
// The key tells apart jobs of one name with other words, so that another --length or --samples in
// the same folder neither takes old results for new ones nor loses them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/plan/plan.h"

namespace addp {

struct JobResult {
  nlohmann::json printed;
  double seconds = 0, core_seconds = 0;  // of the call that finished it
};

class Workplace {
 public:
  Workplace(const Plan& plan, std::filesystem::path out) : plan_(plan), out_(std::move(out)) {}

  const Plan& plan() const { return plan_; }
  const std::filesystem::path& out() const { return out_; }
  std::filesystem::path folder(const std::string& job) const;
  // The words of the call, with the folders in them.
  std::vector<std::string> words(const StudyJob& job) const;

  bool done(const std::string& job) const;
  // Nothing where the job is not done.
  std::optional<JobResult> result(const std::string& job) const;
  void write_result(const StudyJob& job, const JobResult& result) const;

  // The files that jobs take, written before the first starts.
  void write_files() const;

 private:
  const Plan& plan_;
  std::filesystem::path out_;
};

}  // namespace addp
