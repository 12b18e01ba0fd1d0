#include "reproduce/run/estimate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/json_text.h"
#include "base/log.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kFewUnits = 2, kMoreUnits = 6;

// The first job of each kind: what stands for the others.
std::map<std::string, const StudyJob*> first_of_kinds(const Plan& plan) {
  std::map<std::string, const StudyJob*> first;
  for (const StudyJob& job : plan.jobs()) first.emplace(job.kind, &job);
  return first;
}

// The folders of jobs become those of the jobs that stand for them.
std::string with_stand_ins(const std::string& word, const Plan& plan,
                           const std::map<std::string, const StudyJob*>& first) {
  return placed(word, "\x1e", [&](const std::string& name) {
    return in_folder(first.at(plan.job(name).kind)->name);
  });
}

StudyJob shortened(const StudyJob& job, const Plan& plan,
                   const std::map<std::string, const StudyJob*>& first, std::int64_t units) {
  StudyJob trial = job;
  for (std::size_t i = 0; i < trial.words.size(); ++i) {
    std::string& word = trial.words[i];
    word = with_stand_ins(word, plan, first);
    if (i > 0 && job.words[i - 1] == job.length_option && !job.length_option.empty()) {
      word =
          std::to_string(std::min<std::int64_t>(units, static_cast<std::int64_t>(units_of(job))));
    }
    // All tokens at once would take longer than a few steps.
    if (i > 0 && job.words[i - 1] == "--token-views") word = "0";
    if (i > 0 && job.words[i - 1] == "--feature-views") word = "0";
  }
  return trial;
}

void add_with_needs(const std::string& name, const Plan& plan, std::int64_t units,
                    const std::map<std::string, const StudyJob*>& first, Plan& trial,
                    std::set<std::string>& added) {
  if (!added.insert(name).second) return;
  const StudyJob job = shortened(plan.job(name), plan, first, units);
  for (const std::string& need : plan.needs(job)) {
    add_with_needs(need, plan, units, first, trial, added);
  }
  trial.add(job);
}

nlohmann::json to_json(const Line& line) {
  return {{"fixed", line.fixed}, {"per_unit", line.per_unit}};
}

Line line_from(const nlohmann::json& json, const char* name) {
  const auto line = json.find(name);
  if (line == json.end() || !line->is_object()) return {};
  return {line->value("fixed", 0.0), line->value("per_unit", 0.0)};
}

Rates read_rates(const fs::path& path) {
  Rates rates;
  if (!fs::exists(path)) return rates;
  const auto json = nlohmann::json::parse(read_text_file(path), nullptr, false);
  if (!json.is_object()) return rates;
  for (const auto& [kind, rate] : json.items()) {
    if (rate.is_object()) {
      rates[kind] = {line_from(rate, "seconds"), line_from(rate, "core_seconds")};
    }
  }
  return rates;
}

void write_rates(const fs::path& path, const Rates& rates) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [kind, rate] : rates) {
    json[kind] = {{"seconds", to_json(rate.seconds)}, {"core_seconds", to_json(rate.core_seconds)}};
  }
  write_file_atomically(path, json_text(json, 2) + "\n");
}

// What every trial took, by kind.
std::map<std::string, JobResult> run_trial(const Plan& plan, const fs::path& out,
                                           const RunnerOptions& options) {
  const Workplace place(plan, out);
  const RunnerReport report = run_jobs(place, options, [](const StudyJob&, const auto&) {});
  for (const auto& [job, said] : report.failed) {
    warn("the time of '{}' could not be measured: {}", plan.job(job).kind, said);
  }
  std::map<std::string, JobResult> results;
  for (const StudyJob& job : plan.jobs()) {
    if (const auto result = place.result(job.name)) results[job.kind] = *result;
  }
  return results;
}

}  // namespace

Line line_through(double units, double seconds, double more_units, double more_seconds) {
  if (more_units <= units) return {std::max(seconds, 0.0), 0};
  const double slope = std::max(0.0, (more_seconds - seconds) / (more_units - units));
  return {std::max(0.0, seconds - slope * units), slope};
}

Plan trial_plan(const Workplace& workplace, std::int64_t units) {
  const Plan& plan = workplace.plan();
  const auto first = first_of_kinds(plan);
  Plan trial;
  for (const auto& [path, content] : plan.files()) trial.take_file(path, content);
  std::set<std::string> added;
  for (const auto& [kind, job] : first) {
    add_with_needs(job->name, plan, units, first, trial, added);
  }
  return trial;
}

Rates measure_rates(const Workplace& workplace, const RunnerOptions& options) {
  const fs::path folder = workplace.out() / "trial";
  Rates rates = read_rates(folder / "rates.json");
  bool known = true;
  for (const StudyJob& job : workplace.plan().jobs()) known = known && rates.contains(job.kind);
  if (known) return rates;
  note("measuring a few steps of every kind of job");
  const Plan few = trial_plan(workplace, kFewUnits), more = trial_plan(workplace, kMoreUnits);
  const auto first = run_trial(few, folder / "few", options);
  const auto second = run_trial(more, folder / "more", options);
  for (const StudyJob& job : more.jobs()) {
    const auto a = first.find(job.kind), b = second.find(job.kind);
    if (a == first.end() || b == second.end()) continue;
    const double units = units_of(few.job(job.name)), more_units = units_of(job);
    rates[job.kind] = {
        line_through(units, a->second.seconds, more_units, b->second.seconds),
        line_through(units, a->second.core_seconds, more_units, b->second.core_seconds)};
  }
  write_rates(folder / "rates.json", rates);
  return rates;
}

Estimate estimate(const Workplace& workplace, const Rates& rates, std::int64_t jobs) {
  Estimate result;
  std::map<std::string, double> ends;  // of each job, on as many cores as it likes
  double longest = 0, sum = 0;
  const std::set<std::string> to_do = workplace.to_do();
  for (const StudyJob& job : workplace.plan().jobs()) {
    double start = 0;
    for (const std::string& need : workplace.plan().needs(job)) {
      start = std::max(start, ends[need]);
    }
    double seconds = 0;
    if (to_do.contains(job.name)) {
      const auto rate = rates.find(job.kind);
      result.unknown += rate == rates.end() ? 1 : 0;
      if (rate != rates.end()) {
        seconds = rate->second.seconds.at(units_of(job));
        result.core_seconds += rate->second.core_seconds.at(units_of(job));
      }
    }
    result.of_job[job.name] = seconds;
    sum += seconds;
    longest = std::max(longest, ends[job.name] = start + seconds);
  }
  result.seconds = std::max(longest, sum / static_cast<double>(jobs));
  return result;
}

}  // namespace addp
