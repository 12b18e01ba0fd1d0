#include "commands/recognise/classify.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "commands/recognise/loaded_classifier.h"
#include "data/load/open_dataset.h"
#include "nn/torch.h"
#include "report/table.h"

namespace addp {
namespace {

struct Verdict {
  std::string picture;
  std::vector<std::int64_t> classes;
  std::vector<double> probabilities;
};

std::vector<Verdict> classify_set(const LoadedClassifier& model, const std::string& spec,
                                  std::int64_t top) {
  const auto dataset = open_dataset(spec, "all", Task::kPictures);
  const std::int64_t count = std::min(top, model.classes().count);
  std::vector<Verdict> verdicts;
  for_each_batch(dataset, model.pass(dataset->size() > 64 ? "pictures" : ""),
                 [&](const PictureBatch& batch) {
                   const auto [best, which] = model.logits(batch.pixels).softmax(1).topk(count, 1);
                   for (std::int64_t i = 0; i < batch.pixels.size(0); ++i) {
                     Verdict& verdict = verdicts.emplace_back();
                     verdict.picture = dataset->name(batch.indices[static_cast<std::size_t>(i)]);
                     for (std::int64_t k = 0; k < count; ++k) {
                       verdict.classes.push_back(which[i][k].item<std::int64_t>());
                       verdict.probabilities.push_back(best[i][k].item<double>());
                     }
                   }
                 });
  return verdicts;
}

nlohmann::json to_json(const std::vector<Verdict>& verdicts, const ModelClasses& classes) {
  nlohmann::json all = nlohmann::json::array();
  for (const Verdict& verdict : verdicts) {
    nlohmann::json named = nlohmann::json::array();
    for (std::size_t k = 0; k < verdict.classes.size(); ++k) {
      named.push_back({{"class", verdict.classes[k]},
                       {"name", classes.name(verdict.classes[k])},
                       {"probability", verdict.probabilities[k]}});
    }
    all.push_back({{"picture", verdict.picture}, {"classes", named}});
  }
  return all;
}

std::string to_text(const std::vector<Verdict>& verdicts, const ModelClasses& classes) {
  Table table{.title = {}, .header = {"picture", "class", "probability"}, .rows = {}};
  for (const Verdict& verdict : verdicts) {
    for (std::size_t k = 0; k < verdict.classes.size(); ++k) {
      table.rows.push_back({k == 0 ? verdict.picture : "", classes.name(verdict.classes[k]),
                            fmt::format("{:.3f}", verdict.probabilities[k])});
    }
  }
  return table.to_text();
}

}  // namespace

void run(const ClassifyOptions& options, const RunContext& context) {
  const LoadedClassifier model(options.model, options.classes, options.machine);
  std::vector<Verdict> verdicts;
  for (const std::string& spec : options.pictures) {
    for (Verdict& verdict : classify_set(model, spec, options.top)) {
      verdicts.push_back(std::move(verdict));
    }
  }
  print_stdout(context.json ? to_json(verdicts, model.classes()).dump(2) + "\n"
                            : to_text(verdicts, model.classes()));
}

}  // namespace addp
