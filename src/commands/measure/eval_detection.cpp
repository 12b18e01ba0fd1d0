#include "commands/measure/eval_detection.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "eval/recognition/coco_ap.h"
#include "eval/recognition/instance_matching.h"
#include "report/table.h"

namespace addp {
namespace {

// pycocotools leaves these out in silence.
void warn_about_unknown(const CocoFile& truth, const std::vector<CocoAnnotation>& detections) {
  const auto unknown =
      std::count_if(detections.begin(), detections.end(),
                    [&](const CocoAnnotation& one) { return truth.class_of(one.category_id) < 0; });
  if (unknown > 0) {
    warn("{} of {} detections have a category that {} does not list, and are left out", unknown,
         detections.size(), truth.name);
  }
}

Table count_table(const InstanceCounts& counts, const EvalDetectionOptions& options) {
  return {
      .title = fmt::format("Things, from a score of {} on, IoU of masks 0.5", options.score),
      .header = {"found", "invented", "missed", "precision", "recall", "TP/(TP+FP+FN)"},
      .rows = {{fmt::to_string(counts.found), fmt::to_string(counts.invented),
                fmt::to_string(counts.missed), fmt::format("{:.4f}", counts.precision()),
                fmt::format("{:.4f}", counts.recall()), fmt::format("{:.4f}", counts.accuracy())}}};
}

}  // namespace

void run(const EvalDetectionOptions& options, const RunContext& context) {
  CocoFile truth = load_coco(options.annotations);
  const auto detections = load_coco_detections(options.detections);
  warn_about(truth.problems);
  warn_about_unknown(truth, detections);
  if (!options.only.empty()) truth.keep_categories(options.only);
  if (truth.annotations.empty()) {
    throw DataError("{}: has no annotation that can be used, so that there is nothing to compare",
                    options.annotations);
  }
  const bool masks = detections.empty() ||
                     std::any_of(detections.begin(), detections.end(),
                                 [](const CocoAnnotation& one) { return !one.mask.empty(); });
  const CocoFigures boxes = evaluate_coco(truth, detections, CocoTask::kBox);
  nlohmann::json result = {{"bbox", boxes.values}};
  Table table{.title = {}, .header = {"", "boxes"}, .rows = {}};
  for (std::size_t i = 0; i < kCocoFigureNames.size(); ++i) {
    table.rows.push_back({kCocoFigureNames[i], fmt::format("{:.4f}", boxes.values[i])});
  }
  if (masks) {
    const CocoFigures shapes = evaluate_coco(truth, detections, CocoTask::kMask);
    result["segm"] = shapes.values;
    table.header.emplace_back("masks");
    for (std::size_t i = 0; i < kCocoFigureNames.size(); ++i) {
      table.rows[i].push_back(fmt::format("{:.4f}", shapes.values[i]));
    }
  }
  const InstanceCounts counts = match_instances(truth, detections, {.score = options.score});
  result["counts"] = {{"score", options.score},        {"found", counts.found},
                      {"invented", counts.invented},   {"missed", counts.missed},
                      {"accuracy", counts.accuracy()}, {"precision", counts.precision()},
                      {"recall", counts.recall()}};
  print_stdout(context.json ? json_text(result) + "\n"
                            : table.to_text() + "\n" + count_table(counts, options).to_text());
}

}  // namespace addp
