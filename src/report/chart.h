// Charts as SVG text, for HTML pages and files.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace addp {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // in the order of x
};

struct ChartStyle {
  std::string title, x_label, y_label;
  int width = 560;
  int height = 320;
  bool bars = false;  // one bar per point instead of a line; for one series
};

// Non-finite points are left out. An empty chart says so instead of showing axes of nothing.
std::string chart_svg(const ChartStyle& style, const std::vector<Series>& series);

}  // namespace addp
