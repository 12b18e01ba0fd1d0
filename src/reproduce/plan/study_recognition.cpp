// Fewer labels, corrupted pictures (table 9) and the linear probe of every block.
#include <fmt/format.h>

#include "reproduce/plan/studies.h"
#include "reproduce/plan/study_parts.h"

namespace addp {

Study label_study(Jobs& jobs) {
  Study study{.title = "Fewer labels",
              .about =
                  "Fine-tuning with a part of the labels, the same part of every class, against "
                  "the same encoder from scratch. Not in the paper."};
  StudyTable table{"Top-1 with a share of the labels",
                   {accuracy_measure("ADDP", "labels"), accuracy_measure("scratch", "labels"),
                    accuracy_measure("MAGE", "labels")},
                   {}};
  std::vector<double> shares = jobs.setting().scale.label_shares;
  shares.push_back(1);
  const std::int64_t seeds = jobs.setting().seeds;
  for (const double share : shares) {
    const auto cell = [&](Start start) {
      return cell_of({}, seeds, [&](auto s) { return jobs.classifier(start, s, {}, share); });
    };
    table.rows.push_back({fmt::format("{:g}% of the labels", 100 * share),
                          {cell(Start::kAddp), cell(Start::kScratch), cell(Start::kMage)},
                          100 * share});
  }
  study.tables = {table};
  study.charts = {{"Accuracy over labels",
                   "% of the labels",
                   "top-1",
                   {{"ADDP", 0, 0, ""}, {"scratch", 0, 1, ""}, {"MAGE", 0, 2, ""}}}};
  for (std::size_t row = 0; row < shares.size(); ++row) {
    const std::string labels = table.rows[row].label;
    study.claims.push_back({"With " + labels + ", ADDP is better than scratch",
                            "",
                            {{0, row, 0}, {0, row, 1}},
                            [](const std::vector<double>& m) { return m[0] - m[1]; }});
  }
  study.claims.push_back(
      {"Pre-training is worth more with the fewest labels than with all",
       "",
       {{0, 0, 0}, {0, 0, 1}, {0, shares.size() - 1, 0}, {0, shares.size() - 1, 1}},
       [](const std::vector<double>& m) { return (m[0] - m[1]) - (m[2] - m[3]); }});
  say_what_is_missing(jobs.setting(), study, false, true);
  return study;
}

Study robustness_study(Jobs& jobs) {
  const std::int64_t seeds = jobs.setting().seeds;
  Study study{.title = "Robustness",
              .about =
                  "Fine-tuned classifiers on pictures with the fifteen corruptions of ImageNet-C "
                  "at five severities. The paper divides errors by AlexNet's, which other data "
                  "have none of: here it is plain accuracy."};
  StudyTable table{"Table 9: corrupted pictures",
                   {{.title = "clean", .pointer = "/clean/top1", .factor = 100},
                    {.title = "mean error, corrupted",
                     .pointer = "/mean_corruption_error_raw",
                     .higher = false,
                     .factor = 100}},
                   {}};
  const auto row = [&](const std::string& label, Start start) {
    const auto job = [&, start](std::int64_t s) { return jobs.robustness(start, s); };
    return StudyRow{label, {cell_of({}, seeds, job), cell_of({}, seeds, job)}};
  };
  table.rows = {row("ADDP", Start::kAddp), row("from scratch", Start::kScratch),
                row("MAGE", Start::kMage)};
  table.note =
      "The paper's 1-mCE on ImageNet-C: ADDP 57.3, SiameseIM 57.1, MoCo-v3 55.4, MSN 53.4, "
      "MAE 48.3.";
  study.tables = {table};
  study.claims = {
      better("ADDP's classifier errs less on corrupted pictures than from scratch", "", table, 0, 1,
             1),
      better("ADDP's classifier errs less on corrupted pictures than MAGE's", "", table, 0, 2, 1)};
  say_what_is_missing(jobs.setting(), study, false, true);
  return study;
}

Study probe_study(Jobs& jobs) {
  Study study{.title = "Where the class is",
              .about =
                  "A linear probe behind every block of the frozen encoder: on the mean of the "
                  "cells, and on the class position. The paper probes the last block only and "
                  "finds 11.5% for ADDP against MAGE's 74.7%."};
  StudyTable table{
      "Linear probe of every block",
      {accuracy_measure("ADDP, mean", "probe"), accuracy_measure("ADDP, class position", "probe"),
       accuracy_measure("MAGE, mean", "probe"), accuracy_measure("random, mean", "probe")},
      {}};
  for (const std::int64_t block : jobs.setting().scale.probed) {
    const auto cell = [&](Start start, const std::string& position) {
      return cell_of({}, 1, [&](auto s) { return jobs.probe(start, s, {}, block, position); });
    };
    table.rows.push_back({fmt::format("block {}", block),
                          {cell(Start::kAddp, "mean"), cell(Start::kAddp, "class"),
                           cell(Start::kMage, "mean"), cell(Start::kScratch, "mean")},
                          static_cast<double>(block)});
  }
  study.tables = {table};
  study.charts = {{"Linear probe over blocks",
                   "block",
                   "top-1",
                   {{"ADDP, mean", 0, 0, ""},
                    {"ADDP, class position", 0, 1, ""},
                    {"MAGE, mean", 0, 2, ""},
                    {"random, mean", 0, 3, ""}}}};
  const std::size_t last = table.rows.size() - 1;
  std::vector<CellPlace> cells;
  for (std::size_t row = 0; row <= last; ++row) cells.push_back({0, row, 0});
  study.claims = {
      {"An inner block carries the class better than the last one (ADDP, mean)", "", cells,
       [](const std::vector<double>& m) {
         double best = m[0];
         for (std::size_t i = 0; i + 1 < m.size(); ++i) best = m[i] > best ? m[i] : best;
         return best - m.back();
       }},
      {"The mean carries the class better than the class position (ADDP, last block)",
       "",
       {{0, last, 0}, {0, last, 1}},
       [](const std::vector<double>& m) { return m[0] - m[1]; }},
      {"ADDP's last block carries the class better than a random encoder's",
       "",
       {{0, last, 0}, {0, last, 3}},
       [](const std::vector<double>& m) { return m[0] - m[1]; }}};
  say_what_is_missing(jobs.setting(), study, false, true);
  return study;
}

Study picture_study(Jobs& jobs) {
  const std::int64_t side = jobs.setting().scale.size;
  Study study{.title = "What it looks like", .about = "The figures of the paper's appendix."};
  study.panels = {
      {jobs.samples(), "samples.png", "Figure 7: generated pictures"},
      {jobs.trajectory(), "-steps.png",
       "Figures 8 and 16: the steps of two pictures, with the first three principal components of "
       "their tokens"},
      {jobs.noise(), "noisy-weighted-sum.png",
       "Figure 9: synthetic training pictures, WeightedSum"},
      {jobs.noise(), "noisy-sampling.png", "Figure 10: synthetic training pictures, Sampling"},
      {jobs.noise(), "noisy-argmax.png", "Figure 11: synthetic training pictures, ArgMax"},
      {jobs.noise(), "mask-ratios.svg", "Figure 12: mask ratios of training"},
      {jobs.noise(), "timesteps.svg", "Figure 12: timesteps of training"},
      {jobs.fill("inpainting", {"--box", fmt::format("{0},{0},{1},{1}", side / 4, side / 2)}),
       ".png", "Figure 13: the middle filled in, four times"},
      {jobs.fill("outpainting", {"--outpaint", "left=50%,right=50%"}), ".png",
       "Figure 14: both sides added, four times"},
      {jobs.fill("uncropping", {"--uncrop", "2"}), ".png",
       "Figure 15: a picture twice as wide and high around it, four times"}};
  return study;
}

}  // namespace addp
