#include "train/run_log.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/file/folder.h"
#include "base/json_text.h"
#include "image/codec/codec.h"
#include "report/html_page.h"

namespace addp {
namespace {

using nlohmann::json;

// The lines of log.jsonl that are whole; a line that a kill cut short is left out.
std::vector<json> read_lines(const std::filesystem::path& path) {
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    json value = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (value.is_object() && value.contains("step")) lines.push_back(std::move(value));
  }
  return lines;
}

}  // namespace

RunLog::RunLog(std::filesystem::path folder, std::int64_t first_step, std::int64_t first_evaluation)
    : folder_(std::move(folder)) {
  make_folder(folder_ / "pictures");
  remove_leftovers(folder_ / "pictures");
  const auto path = folder_ / "log.jsonl";
  std::string kept;
  for (const auto& line : read_lines(path)) {
    const auto first = line.value("kind", "train") == "eval" ? first_evaluation : first_step;
    if (line["step"].get<std::int64_t>() < first) kept += json_text(line) + "\n";
  }
  write_file_atomically(path, kept);
  events_ = std::make_unique<TensorBoardWriter>(folder_ / "tensorboard", first_step);
}

void RunLog::metrics(const std::string& kind, std::int64_t step, const Metrics& metrics) {
  json line = {{"step", step}, {"kind", kind}};
  for (const auto& [name, value] : metrics) {
    line[name] = value;
    events_->scalar(kind + "/" + name, static_cast<float>(value), step);
  }
  std::ofstream file(folder_ / "log.jsonl", std::ios::app);
  file << json_text(line) << "\n";
  if (!file.flush()) {
    throw RuntimeError("{}: cannot be written; is the disk full?", folder_ / "log.jsonl");
  }
  events_->flush();
}

void RunLog::pictures(std::int64_t step, const std::vector<Panel>& panels) {
  for (const auto& panel : panels) {
    const Bytes png = encode_png(panel.image);
    write_file_atomically(folder_ / "pictures" / fmt::format("{}-{:07}.png", panel.name, step),
                          png);
    events_->image(panel.name, png, panel.image.width, panel.image.height, step);
  }
  if (!panels.empty()) newest_ = panels;
}

void RunLog::write_page(const std::string& title, const std::string& subtitle) const {
  HtmlPage page(title, subtitle);
  std::map<std::string, std::map<std::string, Series>> curves;  // figure -> kind -> points
  for (const auto& line : read_lines(folder_ / "log.jsonl")) {
    const std::string kind = line.value("kind", "train");
    for (const auto& [name, value] : line.items()) {
      if (name == "step" || !value.is_number()) continue;
      Series& series = curves[name][kind];
      series.name = kind;
      series.points.emplace_back(line["step"].get<double>(), value.get<double>());
    }
  }
  std::vector<std::string> charts;
  for (const auto& [name, kinds] : curves) {
    std::vector<Series> series;
    for (const auto& [kind, one] : kinds) series.push_back(one);
    charts.push_back(
        chart_svg({.title = name, .x_label = "step", .width = 460, .height = 260}, series));
  }
  page.heading("Pictures");
  for (const auto& panel : newest_)
    page.picture(panel.image, panel.name, panel.image.width < 400 ? 2 : 1);
  page.heading("Curves");
  page.charts(charts);
  page.write(folder_ / "index.html");
}

}  // namespace addp
