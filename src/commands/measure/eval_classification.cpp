#include "commands/measure/eval_classification.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file/file_io.h"
#include "base/json_text.h"
#include "commands/recognise/loaded_classifier.h"
#include "data/load/open_dataset.h"
#include "eval/recognition/classification_metrics.h"
#include "eval/recognition/confusion_matrix.h"
#include "eval/recognition/confusion_picture.h"
#include "image/codec/codec.h"
#include "nn/torch.h"
#include "report/table.h"

namespace addp {
namespace {

double class_accuracy(const ConfusionMatrix& matrix, std::int64_t index) {
  return double(matrix.at(index, index)) / double(matrix.truths(index));
}

nlohmann::json to_json(const Accuracy& accuracy, const ConfusionMatrix& matrix,
                       const ModelClasses& classes) {
  nlohmann::json each = nlohmann::json::array();
  for (std::int64_t i = 0; i < matrix.classes(); ++i) {
    if (matrix.truths(i) == 0) continue;
    each.push_back({{"name", classes.name(i)},
                    {"pictures", matrix.truths(i)},
                    {"accuracy", class_accuracy(matrix, i)}});
  }
  return {{"pictures", accuracy.count()},
          {"top1", accuracy.top1()},
          {"top5", accuracy.top5()},
          {"classes", each}};
}

std::string to_text(const Accuracy& accuracy, const ConfusionMatrix& matrix,
                    const ModelClasses& classes) {
  Table table{.title = {}, .header = {"class", "pictures", "accuracy %"}, .rows = {}};
  for (std::int64_t i = 0; i < matrix.classes(); ++i) {
    if (matrix.truths(i) == 0) continue;
    table.rows.push_back({classes.name(i), fmt::format("{}", matrix.truths(i)),
                          fmt::format("{:.1f}", 100 * class_accuracy(matrix, i))});
  }
  return table.to_text() + fmt::format("\ntop-1 {:.2f} %, top-5 {:.2f} % of {} pictures\n",
                                       100 * accuracy.top1(), 100 * accuracy.top5(),
                                       accuracy.count());
}

}  // namespace

void run(const EvalClassificationOptions& options, const RunContext& context) {
  make_folder_for(options.confusion);
  const LoadedClassifier model(options.model, options.classes, options.machine);
  const auto dataset = open_evaluation_set(options.data, options.split, Task::kClassification);
  const auto matched = match_classes(model.classes(), *dataset);
  Accuracy accuracy;
  ConfusionMatrix matrix(model.classes().count);
  for_each_batch(dataset, model.pass("pictures", options.limit), [&](const PictureBatch& batch) {
    const Tensor logits = model.logits(batch.pixels), labels = model_labels(batch.labels, matched);
    accuracy.add(logits, labels);
    matrix.add(labels, logits.argmax(1));
  });
  if (!options.confusion.empty()) {
    save_image(options.confusion, confusion_picture(matrix, model.classes().names));
    context.write_configuration_beside(options.confusion);
  }
  print_stdout(context.json ? json_text(to_json(accuracy, matrix, model.classes()), 2) + "\n"
                            : to_text(accuracy, matrix, model.classes()));
}

}  // namespace addp
