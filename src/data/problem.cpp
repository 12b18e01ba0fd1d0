#include "data/problem.h"

#include <algorithm>

#include "base/log.h"

namespace addp {

void warn_about(const std::vector<DataProblem>& problems) {
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, problems.size()); ++i) {
    warn("{}: {}: {}", problems[i].file, problems[i].id, problems[i].text);
  }
  if (problems.size() > kShown) {
    warn("{} more problems in this data set; 'addp doctor' lists them", problems.size() - kShown);
  }
}

}  // namespace addp
