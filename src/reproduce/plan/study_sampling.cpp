// Figure 6 and tables 10 and 11: how a trained ADDP is sampled.
#include <fmt/format.h>

#include "reproduce/plan/studies.h"
#include "reproduce/plan/study_parts.h"

namespace addp {
namespace {

std::vector<Measure> sampling_measures() {
  return {fid_measure(), score_measure(), precision_measure(), recall_measure()};
}

// Published: FID and IS.
StudyRow sampled_row(Jobs& jobs, const std::string& label, double x,
                     const std::vector<std::string>& words, const std::string& name,
                     std::optional<double> fid = {}, std::optional<double> score = {}) {
  const auto job = [&](std::int64_t s) { return jobs.fid_of_addp({}, s, words, name); };
  return {label,
          {cell_of(fid, 1, job), cell_of(score, 1, job), cell_of({}, 1, job), cell_of({}, 1, job)},
          x};
}

std::optional<double> published_top_p(double p, bool score) {
  struct Row {
    double p, fid, score;
  };
  for (const Row& row :
       {Row{1, 7.6, 105.1}, Row{0.95, 7.9, 117.3}, Row{0.9, 10.5, 124.1}, Row{0.7, 34.1, 88.6},
        Row{0.5, 90.9, 32.9}, Row{0.3, 185.8, 8.4}, Row{0.1, 325.8, 2.3}}) {
    if (row.p == p) return score ? row.score : row.fid;
  }
  return {};
}

std::optional<double> published_temperature(double tau, bool falling, bool score) {
  struct Row {
    double tau;
    bool falling;
    double fid, score;
  };
  for (const Row& row :
       {Row{0, false, 353.7, 1.3}, Row{2, false, 18.5, 107.2}, Row{6, false, 12.1, 80.7},
        Row{20, false, 27.3, 48.7}, Row{60, false, 33.8, 41.0}, Row{2, true, 23.3, 109.4},
        Row{6, true, 7.6, 105.1}, Row{20, true, 17.7, 63.9}, Row{60, true, 27.9, 48.3}}) {
    if (row.tau == tau && row.falling == falling) return score ? row.score : row.fid;
  }
  return {};
}

StudyTable top_p_table(Jobs& jobs) {
  StudyTable table{"Table 10: top-p", sampling_measures(), {}};
  table.rows.push_back(sampled_row(jobs, "top-p 1", 1, {}, "", 7.6, 105.1));
  for (const double p : jobs.setting().scale.top_p) {
    const std::string text = fmt::format("{:g}", p);
    table.rows.push_back(sampled_row(jobs, "top-p " + text, p, {"--top-p", text}, "-top-p-" + text,
                                     published_top_p(p, false), published_top_p(p, true)));
  }
  return table;
}

StudyTable temperature_table(Jobs& jobs) {
  StudyTable table{"Table 11: temperature", sampling_measures(), {}};
  table.rows.push_back(sampled_row(jobs, "falling, 6 t/T", 6, {}, "", 7.6, 105.1));
  const auto add = [&](double tau, bool falling) {
    const std::string text = fmt::format("{:g}", tau);
    const std::string curve = falling ? "falling" : "constant";
    table.rows.push_back(sampled_row(
        jobs, falling ? fmt::format("falling, {} t/T", text) : "constant, " + text, tau,
        {"--temperature", text, "--temperature-curve", curve},
        fmt::format("-temperature-{}-{}", curve, text), published_temperature(tau, falling, false),
        published_temperature(tau, falling, true)));
  };
  for (const double tau : jobs.setting().scale.falling_temperature) add(tau, true);
  for (const double tau : jobs.setting().scale.constant_temperature) add(tau, false);
  return table;
}

}  // namespace

Study schedule_study(Jobs& jobs) {
  Study study{.title = "Schedules and steps",
              .about =
                  "FID of one trained ADDP over the number of steps, for both masking schedules. "
                  "The paper shows curves without figures."};
  StudyTable table{"Figure 6: masking schedules", sampling_measures(), {}};
  const std::vector<std::int64_t>& grid = jobs.setting().scale.step_grid;
  for (const std::string schedule : {"cosine", "linear"}) {
    for (const std::int64_t steps : grid) {
      table.rows.push_back(sampled_row(jobs, fmt::format("{}, {} steps", schedule, steps),
                                       static_cast<double>(steps),
                                       {"--schedule", schedule, "--steps", std::to_string(steps)},
                                       fmt::format("-{}-{}", schedule, steps)));
    }
  }
  study.tables = {table};
  study.charts = {
      {"FID over steps", "steps", "FID", {{"cosine", 0, 0, "cosine"}, {"linear", 0, 0, "linear"}}}};
  const std::size_t n = grid.size();
  study.claims = {
      better("The linear schedule gains with more steps", "figure 6", study.tables[0], 2 * n - 1, n,
             0),
      {"The cosine schedule gains less from the second half of the steps than the linear one",
       "figure 6: cosine saturates",
       {{0, n / 2, 0}, {0, n - 1, 0}, {0, n + n / 2, 0}, {0, 2 * n - 1, 0}},
       [](const std::vector<double>& m) { return (m[2] - m[3]) - (m[0] - m[1]); }},
      better("With the most steps the linear schedule is better", "figure 6", study.tables[0],
             2 * n - 1, n - 1, 0)};
  say_what_is_missing(jobs.setting(), study, true, false);
  return study;
}

Study sampling_study(Jobs& jobs) {
  Study study{.title = "Temperature and top-p",
              .about =
                  "One trained ADDP, sampled with truncated distributions and with other noise on "
                  "the confidences; one seed."};
  study.tables = {top_p_table(jobs), temperature_table(jobs)};
  study.charts = {{"FID over top-p", "top-p", "FID", {{"FID", 0, 0, ""}}},
                  {"Recall over top-p", "top-p", "recall", {{"recall", 0, 3, ""}}},
                  {"FID over temperature",
                   "temperature",
                   "FID",
                   {{"falling", 1, 0, "falling"}, {"constant", 1, 0, "constant"}}},
                  {"Recall over temperature",
                   "temperature",
                   "recall",
                   {{"falling", 1, 3, "falling"}, {"constant", 1, 3, "constant"}}}};
  const std::size_t last = study.tables[0].rows.size() - 1;
  study.claims = {
      better("Truncation costs FID", "7.6 against 90.9 at top-p 0.5", study.tables[0], 0, last, 0),
      better("Truncation costs recall", "", study.tables[0], 0, last, 3)};
  const StudyTable& t = study.tables[1];
  for (std::size_t row = 1; row < t.rows.size(); ++row) {
    if (t.rows[row].label == "constant, 6") {
      study.claims.push_back(better("A falling temperature is better than a constant one",
                                    "FID 7.6 against 12.1", t, 0, row, 0, 1));
    }
  }
  say_what_is_missing(jobs.setting(), study, true, false);
  return study;
}

}  // namespace addp
