#include "commands/recognise/classify.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "commands/recognise/loaded_classifier.h"
#include "commands/recognise/picture_inputs.h"
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

// Of the pictures that can be read; the others are named in warnings.
void classify_set(const LoadedClassifier& model, const std::shared_ptr<const Dataset>& dataset,
                  std::int64_t top, std::vector<Verdict>& verdicts) {
  const std::int64_t count = std::min(top, model.classes().count);
  TensorPass pass = model.pass(dataset->size() > 64 ? "pictures" : "");
  pass.pictures.max_broken = 1;
  for_each_batch(dataset, pass, [&](const PictureBatch& batch) {
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
  std::vector<std::shared_ptr<const Dataset>> sets;
  std::int64_t asked = 0;
  for (const std::string& spec : options.pictures) {
    sets.push_back(open_dataset(spec, "all", Task::kPictures));
    asked += sets.back()->size();
  }
  std::vector<Verdict> verdicts;
  for (const auto& set : sets) {
    try {
      classify_set(model, set, options.top, verdicts);
    } catch (const DataError& error) {  // not one of them can be used
      warn("left out: {}", error.what());
    }
  }
  print_stdout(context.json ? json_text(to_json(verdicts, model.classes()), 2) + "\n"
                            : to_text(verdicts, model.classes()));
  require_all_read(asked - static_cast<std::int64_t>(verdicts.size()), asked);
}

}  // namespace addp
