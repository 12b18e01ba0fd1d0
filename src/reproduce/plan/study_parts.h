// Parts that several studies have.
#pragma once

#include <functional>

#include "reproduce/plan/jobs.h"
#include "reproduce/plan/study.h"

namespace addp {

Measure fid_measure();
Measure score_measure();
Measure precision_measure();
Measure recall_measure();
// `group`: probes, fine-tuning and fine-tuning with few labels vary differently over seeds.
Measure accuracy_measure(const std::string& title, const std::string& group = "fine-tuning");
Measure box_measure();
Measure mask_measure();
Measure map_measure();

// One job per seed, from 1; jobs that cannot run leave the cell unmeasured.
Cell cell_of(std::optional<double> published, std::int64_t seeds,
             const std::function<std::string(std::int64_t seed)>& job);
// Only what the paper says.
StudyRow published_row(const std::string& label, const std::vector<std::optional<double>>& figures);

// "row is better than other in a measure of table 0".
Claim better(const std::string& text, const std::string& published, const StudyTable& table,
             std::size_t row, std::size_t other, std::size_t measure, std::size_t table_index = 0);

// What a study lacks: FID's network, classes, boxes, label maps.
void say_what_is_missing(const Setting& setting, Study& study, bool fid, bool classes,
                         bool dense = false);

}  // namespace addp
