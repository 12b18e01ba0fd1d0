// Robustness as ImageNet-C measures it.
#pragma once

#include <array>
#include <map>

#include "image/augment/corruptions.h"

namespace addp {

// Top-1 errors (0 to 1) of each corruption at the five severities.
using CorruptionErrors = std::map<Corruption, std::array<double, kSeverities>>;

struct RobustnessFigures {
  // The mean over corruptions of the mean error over severities.
  double mean_error = 0;
  // The same with each corruption's error divided by AlexNet's on ImageNet-C: the published "mCE".
  // Only meaningful for ImageNet's 1000 classes.
  double normalised_error = 0;
  std::map<Corruption, double> error, normalised;  // for each corruption
};

// Over the corruptions given; none is a UsageError, and so is an error outside 0..1.
RobustnessFigures robustness_figures(const CorruptionErrors& errors);

}  // namespace addp
