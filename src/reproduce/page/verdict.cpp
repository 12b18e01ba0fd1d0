#include "reproduce/page/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace addp {
namespace {

// The change of `advantage` per unit of one of the means.
double derivative(const std::function<double(const std::vector<double>&)>& advantage,
                  std::vector<double> means, std::size_t of) {
  const double step = 1e-4 * std::max(1e-3, std::abs(means[of]));
  means[of] += step;
  const double above = advantage(means);
  means[of] -= 2 * step;
  return (above - advantage(means)) / (2 * step);
}

}  // namespace

Figure figure_of(const std::vector<double>& values) {
  Figure figure;
  figure.seeds = static_cast<std::int64_t>(values.size());
  for (const double value : values) figure.mean += value / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - figure.mean) * (value - figure.mean);
  if (values.size() > 1) {
    figure.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
  return figure;
}

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds:
      return "holds";
    case Verdict::kDoesNotHold:
      return "does not hold";
    case Verdict::kCannotBeTold:
      return "cannot be told";
    case Verdict::kNotMeasured:
      return "not measured";
  }
  return "";
}

std::optional<double> pooled_variance(const std::vector<Figure>& figures) {
  double squares = 0, freedom = 0;
  for (const Figure& figure : figures) {
    if (figure.seeds < 2) continue;
    squares += figure.deviation * figure.deviation * static_cast<double>(figure.seeds - 1);
    freedom += static_cast<double>(figure.seeds - 1);
  }
  if (freedom == 0) return {};
  return squares / freedom;
}

Judgement judge(const std::function<double(const std::vector<double>&)>& advantage,
                const std::vector<Evidence>& evidence) {
  std::vector<double> means;
  for (const Evidence& one : evidence) {
    if (!one.figure) return {.reason = "a figure is missing"};
    means.push_back(one.figure->mean);
  }
  Judgement result{.verdict = Verdict::kCannotBeTold, .advantage = advantage(means)};
  if (!std::isfinite(result.advantage)) {
    result.reason = "the figures allow no comparison";
    return result;
  }
  double variance = 0;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    const double slope = derivative(advantage, means, i);
    if (slope == 0) continue;
    if (!evidence[i].variance) {
      result.reason = "one seed: how far seeds differ is not known";
      return result;
    }
    variance +=
        slope * slope * *evidence[i].variance / static_cast<double>(evidence[i].figure->seeds);
  }
  result.margin = 2 * std::sqrt(variance);
  if (result.advantage > result.margin) result.verdict = Verdict::kHolds;
  if (result.advantage < -result.margin) result.verdict = Verdict::kDoesNotHold;
  if (result.verdict == Verdict::kCannotBeTold) {
    result.reason = "the difference is below twice its error over seeds";
  }
  return result;
}

}  // namespace addp
