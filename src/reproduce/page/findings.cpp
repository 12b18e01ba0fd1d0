#include "reproduce/page/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/run/progress.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

using Results = std::map<std::string, JobResult>;

std::optional<double> value_at(const Results& results, const std::string& job,
                               const Measure& measure) {
  const auto found = results.find(job);
  if (found == results.end()) return {};
  const nlohmann::json::json_pointer place(measure.pointer);
  if (!found->second.printed.contains(place)) return {};
  const nlohmann::json& value = found->second.printed.at(place);
  if (!value.is_number()) return {};
  return value.get<double>() * measure.factor;
}

std::optional<Figure> cell_figure(const Results& results, const Cell& cell,
                                  const Measure& measure) {
  std::vector<double> values;
  for (const std::string& job : cell.jobs) {
    if (const auto value = value_at(results, job, measure)) values.push_back(*value);
  }
  if (values.empty()) return {};
  return figure_of(values);
}

FigureTable table_figures(const Results& results, const StudyTable& table) {
  FigureTable figures;
  for (const StudyRow& row : table.rows) {
    auto& cells = figures.emplace_back();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      cells.push_back(cell_figure(results, row.cells[i], table.measures.at(i)));
    }
  }
  return figures;
}

std::string group_of(const Measure& measure) {
  return measure.group.empty() ? measure.pointer : measure.group;
}

// The variance of one seed for every group of figures. A cell that several tables show counts once.
std::map<std::string, double> variances(const std::vector<StudyFindings>& studies) {
  std::map<std::string, std::vector<Figure>> by_group;
  std::set<std::pair<std::string, std::vector<std::string>>> seen;
  for (const StudyFindings& one : studies) {
    for (std::size_t t = 0; t < one.figures.size(); ++t) {
      const StudyTable& table = one.study.tables[t];
      for (std::size_t r = 0; r < table.rows.size(); ++r) {
        for (std::size_t m = 0; m < table.rows[r].cells.size(); ++m) {
          const std::string group = group_of(table.measures[m]);
          const Cell& cell = table.rows[r].cells[m];
          if (!one.figures[t][r][m] || cell.trained_once ||
              !seen.insert({group, cell.jobs}).second) {
            continue;
          }
          by_group[group].push_back(*one.figures[t][r][m]);
        }
      }
    }
  }
  std::map<std::string, double> result;
  for (const auto& [group, figures] : by_group) {
    if (const auto variance = pooled_variance(figures)) result[group] = *variance;
  }
  return result;
}

void judge_claims(StudyFindings& findings, const std::map<std::string, double>& spread) {
  for (const Claim& claim : findings.study.claims) {
    std::vector<Evidence> evidence;
    for (const CellPlace& place : claim.cells) {
      const Measure& measure = findings.study.tables.at(place.table).measures.at(place.measure);
      Evidence& one = evidence.emplace_back();
      one.figure = findings.figures.at(place.table).at(place.row).at(place.measure);
      if (const auto known = spread.find(group_of(measure)); known != spread.end()) {
        one.variance = known->second;
      }
    }
    findings.judgements.push_back(judge(claim.advantage, evidence));
  }
}

RunFindings run_of(const StudyJob& job, const JobResult& result) {
  RunFindings run{
      .job = job.name, .kind = job.kind, .steps = units_of(job), .seconds = result.seconds};
  if (result.printed.contains("eval")) {
    for (const auto& [name, value] : result.printed["eval"].items()) {
      if (value.is_number()) run.figures[name] = value.get<double>();
    }
  }
  run.learns_from_predictor =
      run.figures.contains("floor") && run.job != "tokens" &&
      std::find(job.words.begin(), job.words.end(), "--target") == job.words.end();
  return run;
}

// The last two parts of a path: a document that is shown around need not say where things lie.
std::string end_of(const std::string& path) {
  const fs::path whole(path);
  return whole.is_absolute() ? (whole.parent_path().filename() / whole.filename()).string() : path;
}

}  // namespace

Findings collect_findings(const Setting& setting, const std::vector<Study>& studies,
                          const Workplace& workplace) {
  Findings findings;
  findings.setting = setting;
  Results results;
  for (const StudyJob& job : workplace.plan().jobs()) {
    ++findings.jobs;
    const auto result = workplace.result(job.name);
    if (!result) continue;
    ++findings.done;
    if (job.training) findings.runs.push_back(run_of(job, *result));
    results.emplace(job.name, *result);
  }
  for (const Study& study : studies) {
    StudyFindings& one = findings.studies.emplace_back();
    one.study = study;
    for (const StudyTable& table : study.tables) {
      one.figures.push_back(table_figures(results, table));
    }
  }
  const auto spread = variances(findings.studies);
  for (StudyFindings& one : findings.studies) judge_claims(one, spread);
  return findings;
}

std::string figure_text(const std::optional<Figure>& figure, const Measure& measure) {
  if (!figure) return "-";
  if (figure->seeds < 2) return fmt::format("{:.{}f}", figure->mean, measure.digits);
  return fmt::format("{:.{}f} ± {:.{}f}", figure->mean, measure.digits, figure->deviation,
                     measure.digits);
}

std::string published_text(const std::optional<double>& published, const Measure& measure) {
  return published ? fmt::format("{:.{}f}", *published, measure.digits) : "-";
}

std::string budget_text(const Findings& findings) {
  const Setting& s = findings.setting;
  std::map<std::string, double> steps;
  for (const RunFindings& run : findings.runs) {
    if (run.job != "tokens") steps[run.kind] = std::max(steps[run.kind], run.steps);
  }
  std::string text =
      fmt::format("Scale {} ({}). Pictures: {}, {} to learn from and {} held out.", s.scale.name,
                  s.scale.summary, end_of(s.data), s.pictures, s.held_out);
  if (!s.dense.empty()) text += fmt::format(" Boxes and masks: {}.", end_of(s.dense));
  if (!s.maps.empty()) text += fmt::format(" Label maps: {}.", end_of(s.maps));
  if (!s.tokenizer.empty()) text += fmt::format(" Tokenizer: {}, as it is.", end_of(s.tokenizer));
  if (!s.predictor.empty()) {
    text += fmt::format(" Predictor (MAGE): {}, as it is.", end_of(s.predictor));
  }
  if (!s.addp.empty()) {
    text += fmt::format(" ADDP, but for ablations: {}, as it is.", end_of(s.addp));
  }
  if (!steps.empty()) text += " Steps at most:";
  std::string separator = " ";
  for (const auto& [kind, count] : steps) {
    text += fmt::format("{}{} {:.0f}", separator, kind, count);
    separator = ", ";
  }
  if (!steps.empty()) text += ".";
  if (s.length != 1) text += fmt::format(" Trainings have {:g} of the scale's length.", s.length);
  if (s.fid) {
    text +=
        fmt::format(" FID of {} pictures{}.", s.samples, s.as == "png" ? "" : ", kept as " + s.as);
  }
  return text;
}

std::string floor_text(const Findings& findings) {
  constexpr double kNear = 0.05;
  std::int64_t all = 0, near = 0;
  double lowest = INFINITY, highest = -INFINITY;
  for (const RunFindings& run : findings.runs) {
    if (!run.learns_from_predictor) continue;
    const double gap = run.figures.at("loss") - run.figures.at("floor");
    ++all;
    near += gap <= kNear ? 1 : 0;
    lowest = std::min(lowest, gap);
    highest = std::max(highest, gap);
  }
  if (all == 0) return {};
  return fmt::format(
      "ADDP learns what the predictor says, and the entropy of that is the floor of its loss: {} of "
      "{} ADDPs ended within {} nats of it; they lie {:.3f} to {:.3f} above.",
      near, all, kNear, lowest, highest);
}

std::string tally_text(const Findings& findings) {
  std::array<int, 4> counts{};
  for (const StudyFindings& one : findings.studies) {
    for (const Judgement& judgement : one.judgements) {
      ++counts.at(static_cast<std::size_t>(judgement.verdict));
    }
  }
  return fmt::format(
      "Of {} claims {} hold, {} do not hold, {} cannot be told, {} were not measured.",
      counts[0] + counts[1] + counts[2] + counts[3], counts[0], counts[1], counts[2], counts[3]);
}

std::vector<fs::path> panel_files(const StudyPanel& panel, const Workplace& workplace) {
  std::vector<fs::path> files;
  if (!workplace.done(panel.job)) return files;
  for (const auto& entry : fs::directory_iterator(workplace.folder(panel.job))) {
    if (entry.path().string().ends_with(panel.ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace addp
