#include "reproduce/plan/studies.h"

#include <fmt/ranges.h>

#include <utility>

#include "base/error.h"

namespace addp {
namespace {

using MakeStudy = Study (*)(Jobs&);

const std::vector<std::pair<std::string, MakeStudy>>& all_studies() {
  static const std::vector<std::pair<std::string, MakeStudy>> studies = {
      {"main", main_study},         {"input", input_study},   {"condition", condition_study},
      {"mapping", mapping_study},   {"tokens", token_study},  {"target", target_study},
      {"schedule", schedule_study}, {"resnet", resnet_study}, {"robustness", robustness_study},
      {"sampling", sampling_study}, {"labels", label_study},  {"probe", probe_study},
      {"pictures", picture_study},
  };
  return studies;
}

}  // namespace

std::vector<std::string> study_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : all_studies()) names.push_back(name);
  return names;
}

Study make_study(const std::string& name, Jobs& jobs) {
  for (const auto& [known, make] : all_studies()) {
    if (known != name) continue;
    Study study = make(jobs);
    study.name = name;
    return study;
  }
  throw UsageError("--only {}: there are {}", name, fmt::join(study_names(), ", "));
}

}  // namespace addp
