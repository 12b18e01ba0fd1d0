#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "report/table.h"

namespace addp {
namespace {

constexpr int kLeft = 64, kRight = 16, kTop = 34, kBottom = 46;
// Colour-blind safe (Okabe and Ito, 2008).
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

struct Axis {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double share(double value) const { return (value - low) / (high - low); }
};

// Steps of 1, 2 or 5 times a power of ten, about five of them.
std::vector<double> ticks(const Axis& axis) {
  const double rough = (axis.high - axis.low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
  std::vector<double> places;
  const double first = std::ceil(axis.low / step);
  for (int i = 0; i < 10; ++i) {  // counted, so that no axis whatever makes it endless
    const double at = (first + i) * step;
    if (!(at <= axis.high + step * 1e-9)) break;
    places.push_back(at);
  }
  return places;
}

struct Plot {
  const ChartStyle& style;
  Axis x, y;

  double px(double value) const { return kLeft + x.share(value) * (style.width - kLeft - kRight); }
  double py(double value) const {
    return style.height - kBottom - y.share(value) * (style.height - kTop - kBottom);
  }
};

void fit_axes(Plot& plot, const std::vector<Series>& series) {
  for (const auto& one : series) {
    for (const auto& [x, y] : one.points) {
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      plot.x.include(x);
      plot.y.include(y);
    }
  }
  if (plot.style.bars) plot.y.include(0);
  for (Axis* axis : {&plot.x, &plot.y}) {
    // Large numbers that hardly differ leave no room for steps between them.
    const double size = std::abs(axis->high);
    if (axis->high - axis->low > size * 1e-12) continue;
    const double room = std::max(0.5, size * 1e-9);
    axis->low -= room;
    axis->high += room;
  }
  const double margin = 0.05 * (plot.y.high - plot.y.low);
  if (!plot.style.bars) plot.y.low -= margin;
  plot.y.high += margin;
}

std::string axes_svg(const Plot& plot) {
  const auto& style = plot.style;
  std::string svg;
  for (const double at : ticks(plot.y)) {
    const double y = plot.py(at);
    svg += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' class='grid'/>", kLeft,
                       style.width - kRight, y, y);
    svg += fmt::format("<text x='{}' y='{:.1f}' text-anchor='end'>{:.4g}</text>", kLeft - 6, y + 4,
                       at);
  }
  for (const double at : ticks(plot.x)) {
    svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{:.4g}</text>", plot.px(at),
                       style.height - kBottom + 16, at);
  }
  svg +=
      fmt::format("<text x='{}' y='{}' text-anchor='middle'>{}</text>",
                  (kLeft + style.width - kRight) / 2, style.height - 8, escape_html(style.x_label));
  svg +=
      fmt::format("<text transform='translate(14 {}) rotate(-90)' text-anchor='middle'>{}</text>",
                  (kTop + style.height - kBottom) / 2, escape_html(style.y_label));
  return svg;
}

std::string bars_svg(const Plot& plot, const Series& series, const char* colour) {
  std::string svg;
  const double room = plot.style.width - kLeft - kRight;
  const double width = std::max(1.0, 0.8 * room / static_cast<double>(series.points.size()));
  for (const auto& [x, y] : series.points) {
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    const double top = std::min(plot.py(y), plot.py(0));
    svg +=
        fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}'/>",
                    plot.px(x) - width / 2, top, width, std::abs(plot.py(y) - plot.py(0)), colour);
  }
  return svg;
}

std::string line_svg(const Plot& plot, const Series& series, const char* colour) {
  std::string points, marks;
  const bool few = series.points.size() <= 24;
  for (const auto& [x, y] : series.points) {
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    points += fmt::format("{:.1f},{:.1f} ", plot.px(x), plot.py(y));
    if (few) {
      marks += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'/>", plot.px(x),
                           plot.py(y), colour);
    }
  }
  return fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/>{}", points,
                     colour, marks);
}

std::string legend_svg(const std::vector<Series>& series) {
  std::string svg;
  int x = kLeft + 8;
  for (std::size_t i = 0; i < series.size(); ++i) {
    svg += fmt::format("<rect x='{}' y='{}' width='10' height='10' fill='{}'/>", x, kTop - 4,
                       kColours[i % kColours.size()]);
    svg +=
        fmt::format("<text x='{}' y='{}'>{}</text>", x + 14, kTop + 5, escape_html(series[i].name));
    x += 30 + 7 * static_cast<int>(series[i].name.size());
  }
  return svg;
}

}  // namespace

std::string chart_svg(const ChartStyle& style, const std::vector<Series>& series) {
  Plot plot{style, {}, {}};
  fit_axes(plot, series);
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='system-ui,sans-serif' font-size='12' fill='currentColor' "
      "class='chart'><style>.grid{{stroke:currentColor;stroke-opacity:.15}}</style><text x='{2}' "
      "y='18' text-anchor='middle' font-weight='600' font-size='14'>{3}</text>",
      style.width, style.height, style.width / 2, escape_html(style.title));
  if (!std::isfinite(plot.x.low)) {
    return svg + fmt::format("<text x='{}' y='{}' text-anchor='middle'>no data</text></svg>",
                             style.width / 2, style.height / 2);
  }
  svg += axes_svg(plot);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const char* colour = kColours[i % kColours.size()];
    svg += style.bars ? bars_svg(plot, series[i], colour) : line_svg(plot, series[i], colour);
  }
  if (series.size() > 1) svg += legend_svg(series);
  return svg + "</svg>\n";
}

}  // namespace addp
