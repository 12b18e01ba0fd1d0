// From figures of several seeds to a verdict on a claim.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace addp {

struct Figure {
  double mean = 0;
  double deviation = 0;  // over seeds (n - 1); 0 for one
  std::int64_t seeds = 0;
};
Figure figure_of(const std::vector<double>& values);

enum class Verdict { kHolds, kDoesNotHold, kCannotBeTold, kNotMeasured };
const char* verdict_text(Verdict verdict);

// A figure with the variance of one seed that is assumed for it: that of its kind, over all
// cells with several seeds; nothing where no cell has any.
struct Evidence {
  std::optional<Figure> figure;
  std::optional<double> variance;
};

struct Judgement {
  Verdict verdict = Verdict::kNotMeasured;
  double advantage = 0;  // of the means
  double margin = 0;     // twice its standard error over seeds
  std::string reason{};
};

// `advantage` above the margin: the claim holds; below its negative: it does not; in between it
// cannot be told. The error of the means is carried through `advantage` by its derivatives.
Judgement judge(const std::function<double(const std::vector<double>&)>& advantage,
                const std::vector<Evidence>& evidence);

// The variance of one seed, from cells with several: their squared deviations over their degrees
// of freedom. Nothing where none has two.
std::optional<double> pooled_variance(const std::vector<Figure>& figures);

}  // namespace addp
