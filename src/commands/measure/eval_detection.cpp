#include "commands/measure/eval_detection.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "eval/recognition/coco_ap.h"
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
  print_stdout(context.json ? json_text(result) + "\n" : table.to_text());
}

}  // namespace addp
