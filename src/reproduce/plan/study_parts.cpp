#include "reproduce/plan/study_parts.h"

namespace addp {

Measure fid_measure() { return {.title = "FID", .pointer = "/fid", .higher = false, .digits = 2}; }
Measure score_measure() { return {.title = "IS", .pointer = "/inception_score/mean", .digits = 2}; }
Measure precision_measure() { return {.title = "precision", .pointer = "/precision", .digits = 3}; }
Measure recall_measure() { return {.title = "recall", .pointer = "/recall", .digits = 3}; }
Measure accuracy_measure(const std::string& title, const std::string& group) {
  return {.title = title, .pointer = "/eval/top1", .factor = 100, .group = group};
}
Measure box_measure() { return {.title = "AP box", .pointer = "/eval/box_ap"}; }
Measure mask_measure() { return {.title = "AP mask", .pointer = "/eval/mask_ap"}; }
Measure map_measure() { return {.title = "mIoU", .pointer = "/eval/miou"}; }

Cell cell_of(std::optional<double> published, std::int64_t seeds,
             const std::function<std::string(std::int64_t seed)>& job) {
  Cell cell{published};
  for (std::int64_t seed = 1; seed <= seeds; ++seed) {
    std::string name = job(seed);
    if (!name.empty()) cell.jobs.push_back(std::move(name));
  }
  return cell;
}

StudyRow published_row(const std::string& label,
                       const std::vector<std::optional<double>>& figures) {
  StudyRow row{label, {}};
  for (const auto& figure : figures) row.cells.push_back({figure});
  return row;
}

Claim better(const std::string& text, const std::string& published, const StudyTable& table,
             std::size_t row, std::size_t other, std::size_t measure, std::size_t table_index) {
  const double sign = table.measures.at(measure).higher ? 1 : -1;
  return {text,
          published,
          {{table_index, row, measure}, {table_index, other, measure}},
          [sign](const std::vector<double>& m) { return sign * (m[0] - m[1]); }};
}

void say_what_is_missing(const Setting& setting, Study& study, bool fid, bool classes, bool dense) {
  if (fid && !setting.fid) {
    study.left_out.emplace_back(
        "FID, precision and recall: the FID network is not on this machine; 'addp weights' brings "
        "it");
  }
  if (classes && !setting.classes) {
    study.left_out.emplace_back("accuracy: " + setting.data +
                                " has no classes; give --data with one folder per class");
  }
  if (dense && setting.dense_pictures == 0) {
    study.left_out.emplace_back("boxes and masks: give a COCO set with --dense");
  }
  if (dense && setting.map_pictures == 0) {
    study.left_out.emplace_back(
        "label maps: give a set with them with --maps, or a COCO set with --dense");
  }
}

}  // namespace addp
