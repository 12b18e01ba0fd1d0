// What a reproduction has found so far: figures in the cells of every table, verdicts on every
// claim, and the runs behind them.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/page/verdict.h"
#include "reproduce/plan/setting.h"
#include "reproduce/plan/study.h"
#include "reproduce/run/workplace.h"

namespace addp {

using FigureTable = std::vector<std::vector<std::optional<Figure>>>;  // rows of cells

struct StudyFindings {
  Study study;
  std::vector<FigureTable> figures;   // one per table
  std::vector<Judgement> judgements;  // one per claim
};

// A training that is done.
struct RunFindings {
  std::string job, kind;
  double steps = 0, seconds = 0;
  bool learns_from_predictor = false;  // and nothing else: the floor of its loss can be reached
  std::map<std::string, double> figures{};  // of its last evaluation
};

struct Findings {
  Setting setting;
  std::string command;  // that makes them again
  std::vector<StudyFindings> studies;
  std::vector<RunFindings> runs;
  std::int64_t jobs = 0, done = 0;
  std::map<std::string, std::string> failed{};  // the job, and what it said
  std::vector<std::string> discussion{};        // paragraphs, written by hand
};

Findings collect_findings(const Setting& setting, const std::vector<Study>& studies,
                          const Workplace& workplace);

// "23.63", "23.6 ± 0.4"; a dash for nothing.
std::string figure_text(const std::optional<Figure>& figure, const Measure& measure);
std::string published_text(const std::optional<double>& published, const Measure& measure);
// How long everything was trained, how many pictures a FID is of, on what.
std::string budget_text(const Findings& findings);
// How far ADDPs are from the floor of their loss.
std::string floor_text(const Findings& findings);
// "12 hold, 3 do not hold, 5 cannot be told, 2 were not measured"
std::string tally_text(const Findings& findings);

// Files of a panel, in the order of their names.
std::vector<std::filesystem::path> panel_files(const StudyPanel& panel, const Workplace& workplace);

}  // namespace addp
