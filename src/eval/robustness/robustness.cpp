#include "eval/robustness/robustness.h"

#include "base/error.h"

namespace addp {

RobustnessFigures robustness_figures(const CorruptionErrors& errors) {
  if (errors.empty()) throw UsageError("robustness needs the errors of at least one corruption");
  RobustnessFigures figures;
  for (const CorruptionInfo& info : kCorruptions) {
    const auto found = errors.find(info.kind);
    if (found == errors.end()) continue;
    double sum = 0;
    for (const double error : found->second) {
      if (!(error >= 0 && error <= 1)) {
        throw UsageError("an error rate of {} for {}: it lies between 0 and 1", error, info.name);
      }
      sum += error;
    }
    figures.error[info.kind] = sum / kSeverities;
    figures.normalised[info.kind] = sum / kSeverities / info.alexnet_error;
    figures.mean_error += figures.error[info.kind] / double(errors.size());
    figures.normalised_error += figures.normalised[info.kind] / double(errors.size());
  }
  return figures;
}

}  // namespace addp
