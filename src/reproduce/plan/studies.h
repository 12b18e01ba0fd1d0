// The paper's studies, by the names that --only takes.
#pragma once

#include <string>
#include <vector>

#include "reproduce/plan/jobs.h"
#include "reproduce/plan/study.h"

namespace addp {

std::vector<std::string> study_names();
// Adds the study's jobs to the plan. A UsageError lists the names.
Study make_study(const std::string& name, Jobs& jobs);

// Tables 2, 7 and 12: ADDP against MAGE; table 1: pixels against tokens; table 8: a ResNet.
Study main_study(Jobs& jobs);
Study input_study(Jobs& jobs);
Study resnet_study(Jobs& jobs);
// Tables 3 to 6.
Study condition_study(Jobs& jobs);
Study mapping_study(Jobs& jobs);
Study token_study(Jobs& jobs);
Study target_study(Jobs& jobs);
// Figure 6, tables 10 and 11.
Study schedule_study(Jobs& jobs);
Study sampling_study(Jobs& jobs);
// Not in the paper; table 9; the linear probe of every block.
Study label_study(Jobs& jobs);
Study robustness_study(Jobs& jobs);
Study probe_study(Jobs& jobs);
// Figures 7 to 16.
Study picture_study(Jobs& jobs);

}  // namespace addp
