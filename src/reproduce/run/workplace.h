// The folder of a reproduction: where each job works, what it printed, and which are done.
//
//   OUT/jobs/NAME-KEY/result.json   what the job printed; there is one if and only if it is done
//   OUT/jobs/NAME-KEY/log.txt       what it said while it ran
//   OUT/results.json                all results in one file, for other folders and machines
//
// The key tells apart jobs of one name with other words, so that another --length or --samples in
// the same folder neither takes old results for new ones nor loses them.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
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

  bool done(const std::string& job) const;  // in this folder
  // Here, or else among the results of other folders; nothing where the job was not done.
  std::optional<JobResult> result(const std::string& job) const;
  void write_result(const StudyJob& job, const JobResult& result) const;

  // Takes what another folder's results.json knows.
  void add_earlier(const std::filesystem::path& file);
  // results.json of this folder, with the results that were taken from others. Jobs that are looked
  // at for their files are left out: a result does not stand for them.
  void write_results(const std::set<std::string>& left_out) const;

  // What has to run: jobs without a result, and those with one from elsewhere whose files they
  // need.
  std::set<std::string> to_do() const;

  // The files that jobs take, written before the first starts.
  void write_files() const;

 private:
  std::string place(const std::string& job) const { return job + "-" + plan_.key(job); }

  const Plan& plan_;
  std::filesystem::path out_;
  std::map<std::string, JobResult> earlier_;  // by NAME-KEY
};

}  // namespace addp
