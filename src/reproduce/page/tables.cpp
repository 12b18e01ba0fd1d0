#include <fmt/format.h>

#include <algorithm>

#include "base/run/progress.h"
#include "report/chart.h"
#include "reproduce/page/report.h"

namespace addp {
namespace {

Series series_of(const StudyFindings& findings, const Curve& curve) {
  Series series{curve.name, {}};
  const StudyTable& table = findings.study.tables.at(curve.table);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto& figure = findings.figures.at(curve.table).at(row).at(curve.measure);
    if (table.rows[row].x && figure && table.rows[row].label.starts_with(curve.rows)) {
      series.points.emplace_back(*table.rows[row].x, figure->mean);
    }
  }
  std::sort(series.points.begin(), series.points.end());
  return series;
}

// A published figure and ours stand side by side; a column that the paper has nothing for has ours
// only.
bool has_published(const StudyTable& table, std::size_t measure) {
  for (const StudyRow& row : table.rows) {
    if (row.cells.at(measure).published) return true;
  }
  return false;
}

}  // namespace

Table result_table(const StudyTable& table, const FigureTable& figures) {
  Table result{.title = table.title, .header = {""}, .rows = {}};
  for (std::size_t m = 0; m < table.measures.size(); ++m) {
    const std::string title = table.measures[m].title + (table.measures[m].higher ? " ↑" : " ↓");
    if (has_published(table, m)) result.header.push_back(title + " paper");
    result.header.push_back(title + " here");
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::vector<std::string> cells = {table.rows[r].label};
    for (std::size_t m = 0; m < table.measures.size(); ++m) {
      if (has_published(table, m)) {
        cells.push_back(published_text(table.rows[r].cells[m].published, table.measures[m]));
      }
      cells.push_back(figure_text(figures[r][m], table.measures[m]));
    }
    result.rows.push_back(std::move(cells));
  }
  return result;
}

Table claim_table(const StudyFindings& findings) {
  Table result{.title = "", .header = {"claim", "paper", "advantage here", "verdict"}, .rows = {}};
  for (std::size_t i = 0; i < findings.study.claims.size(); ++i) {
    const Claim& claim = findings.study.claims[i];
    const Judgement& judgement = findings.judgements[i];
    std::string here = "-";
    if (judgement.verdict != Verdict::kNotMeasured) {
      here = fmt::format("{:+.3g}", judgement.advantage);
      if (judgement.margin > 0) here += fmt::format(" ± {:.2g}", judgement.margin);
    }
    std::string verdict = verdict_text(judgement.verdict);
    if (!judgement.reason.empty()) verdict += ": " + judgement.reason;
    result.rows.push_back(
        {claim.text, claim.published.empty() ? "not in it" : claim.published, here, verdict});
  }
  return result;
}

Table run_table(const Findings& findings) {
  Table result{.title = "", .header = {"run", "steps", "time", "last evaluation"}, .rows = {}};
  for (const RunFindings& run : findings.runs) {
    if (run.job == "tokens") continue;
    std::string figures;
    for (const auto& [name, value] : run.figures) {
      figures += fmt::format("{}{} {:.4g}", figures.empty() ? "" : ", ", name, value);
    }
    result.rows.push_back(
        {run.job, fmt::format("{:.0f}", run.steps), format_duration(run.seconds), figures});
  }
  return result;
}

std::vector<std::string> charts_of(const StudyFindings& findings) {
  std::vector<std::string> charts;
  for (const Chart& chart : findings.study.charts) {
    std::vector<Series> series;
    for (const Curve& curve : chart.curves) series.push_back(series_of(findings, curve));
    charts.push_back(chart_svg(
        {.title = chart.title, .x_label = chart.x_label, .y_label = chart.y_label}, series));
  }
  return charts;
}

}  // namespace addp
