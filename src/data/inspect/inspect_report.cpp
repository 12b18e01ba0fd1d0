// The doctor's findings as JSON and as text.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "base/run/progress.h"
#include "data/inspect/inspect.h"

namespace addp {
namespace {

using Json = nlohmann::json;

std::map<std::string, std::int64_t> count_kinds(const std::vector<DataProblem>& problems) {
  std::map<std::string, std::int64_t> counts;
  for (const DataProblem& problem : problems) ++counts[problem.kind];
  return counts;
}

Json problems_to_json(const std::vector<DataProblem>& problems, std::size_t list) {
  Json named = Json::array();
  for (std::size_t i = 0; i < std::min(list, problems.size()); ++i) {
    const DataProblem& p = problems[i];
    Json one{{"kind", p.kind}, {"file", printable(p.file)}, {"text", printable(p.text)}};
    if (!p.id.empty()) one["id"] = printable(p.id);
    named.push_back(std::move(one));
  }
  return {{"count", problems.size()}, {"kinds", count_kinds(problems)}, {"list", std::move(named)}};
}

// Shared out over the kinds, so that a thousand grey pictures do not hide the one that is CMYK.
void list_problems(std::string& text, const char* title, const std::vector<DataProblem>& problems,
                   std::size_t list) {
  if (problems.empty()) return;
  const std::map<std::string, std::int64_t> kinds = count_kinds(problems);
  text += fmt::format("{}: {}\n", title, problems.size());
  const std::size_t share = list == 0 ? 0 : std::max<std::size_t>(list / kinds.size(), 1);
  for (const auto& [kind, count] : kinds) {
    text += fmt::format("  {}: {}\n", kind, count);
    std::size_t shown = 0;
    for (const DataProblem& p : problems) {
      if (p.kind != kind) continue;
      if (shown++ == share) break;
      text += fmt::format("    {}{}{} {}\n", printable(p.file), p.id.empty() ? "" : ": ",
                          printable(p.id), printable(p.text));
    }
    if (static_cast<std::size_t>(count) > share) {
      text += fmt::format("    ... and {} more\n", static_cast<std::size_t>(count) - share);
    }
  }
}

std::string class_line(const DatasetReport& report, const SplitReport& split) {
  constexpr std::size_t kShown = 10;
  const auto& counts = split.class_counts;
  std::string line = "    ";
  for (std::size_t i = 0; i < std::min(kShown, counts.size()); ++i) {
    const std::string name =
        i < report.class_names.size() ? report.class_names[i] : std::to_string(i);
    line += fmt::format("{}{} {}", i == 0 ? "" : ", ", printable(name), counts[i]);
  }
  if (counts.size() > kShown) {
    const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
    line += fmt::format(", ... ({} classes, {} to {} each)", counts.size(), *low, *high);
  }
  return line + "\n";
}

}  // namespace

Json report_to_json(const DatasetReport& report, std::size_t list) {
  Json splits = Json::array();
  for (const SplitReport& split : report.splits) {
    Json one{
        {"name", printable(split.name)}, {"pictures", split.pictures}, {"broken", split.broken}};
    if (split.annotations > 0) one["annotations"] = split.annotations;
    if (!split.class_counts.empty()) one["class_counts"] = split.class_counts;
    splits.push_back(std::move(one));
  }
  Json classes = Json::array();
  for (const std::string& name : report.class_names) classes.push_back(printable(name));
  Json sizes = Json::object();
  for (std::size_t i = 0; i < std::min<std::size_t>(10, report.sizes.size()); ++i) {
    sizes[report.sizes[i].first] = report.sizes[i].second;
  }
  return {{"kind", "data"},
          {"path", printable(report.path)},
          {"layout", layout_name(report.kind)},
          {"description", report.layout},
          {"pictures", report.pictures},
          {"splits", std::move(splits)},
          {"classes", std::move(classes)},
          {"tasks", report.tasks},
          {"width", {report.min_width, report.max_width}},
          {"height", {report.min_height, report.max_height}},
          {"sizes", std::move(sizes)},
          {"formats", report.formats},
          {"broken", problems_to_json(report.broken, list)},
          {"odd", problems_to_json(report.odd, list)},
          {"annotation_problems", problems_to_json(report.annotations, list)},
          {"usable", report.usable()}};
}

std::string report_to_text(const DatasetReport& report, std::size_t list) {
  std::string text = fmt::format("{}: {}\n", printable(report.path), printable(report.layout));
  for (const SplitReport& split : report.splits) {
    text += fmt::format("  {}: {} pictures", split.name.empty() ? "all" : printable(split.name),
                        format_count(static_cast<std::uint64_t>(split.pictures)));
    if (split.annotations > 0) {
      text += fmt::format(", {} annotations",
                          format_count(static_cast<std::uint64_t>(split.annotations)));
    }
    text += split.broken > 0 ? fmt::format(", {} broken\n", split.broken) : "\n";
    if (!split.class_counts.empty()) text += class_line(report, split);
  }
  if (!report.sizes.empty()) {
    text += fmt::format("sizes: {} to {} wide, {} to {} high; most are {} ({})\n", report.min_width,
                        report.max_width, report.min_height, report.max_height,
                        report.sizes.front().first, report.sizes.front().second);
  }
  if (!report.formats.empty()) {
    text += "formats:";
    for (const auto& [name, count] : report.formats) text += fmt::format(" {} {}", name, count);
    text += "\n";
  }
  list_problems(text, "broken pictures", report.broken, list);
  list_problems(text, "odd pictures, usable", report.odd, list);
  list_problems(text, "bad annotations", report.annotations, list);
  if (!report.tasks.empty()) {
    text += "can train:";
    for (const std::string& task : report.tasks) text += " " + task;
    text += "\n";
  }
  return text;
}

}  // namespace addp
