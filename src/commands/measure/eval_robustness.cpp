#include "commands/measure/eval_robustness.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/json_text.h"
#include "commands/recognise/loaded_classifier.h"
#include "data/load/open_dataset.h"
#include "data/load/transforms.h"
#include "eval/recognition/classification_metrics.h"
#include "eval/robustness/robustness.h"
#include "image/codec/codec.h"
#include "image/draw/draw.h"
#include "nn/torch.h"
#include "report/table.h"

namespace addp {
namespace {

struct ShiftedResult {
  std::string name;
  std::int64_t classes = 0;
  Accuracy accuracy;
};

struct RobustnessResult {
  std::optional<Accuracy> clean;
  CorruptionErrors errors;
  std::vector<ShiftedResult> shifted;
};

class RobustnessRun {
 public:
  explicit RobustnessRun(const EvalRobustnessOptions& options)
      : options_(options), model_(options.model, options.classes, options.machine) {
    for (const CorruptionInfo& info : kCorruptions) {
      if (options.corruptions.empty()) kinds_.push_back(info);
    }
    for (const std::string& name : options.corruptions) {
      const Corruption kind = corruption_of(name);
      kinds_.push_back(kCorruptions[static_cast<std::size_t>(kind)]);
    }
  }

  RobustnessResult operator()() {
    if (!options_.imagenet_c.empty()) check_folders();
    RobustnessResult result;
    std::shared_ptr<const Dataset> clean;
    if (!options_.data.empty()) {
      clean = open_evaluation_set(options_.data, options_.split, Task::kClassification);
      result.clean = measure(clean, {}, "clean", false);
    }
    if (clean || !options_.imagenet_c.empty()) {
      for (const CorruptionInfo& info : kinds_) result.errors[info.kind] = errors_of(info, clean);
    }
    for (const std::string& spec : options_.shifted) result.shifted.push_back(shifted(spec));
    if (!options_.examples.empty()) save_image(options_.examples, examples(*clean));
    return result;
  }

 private:
  std::filesystem::path folder_of(const CorruptionInfo& info, int severity) const {
    return options_.imagenet_c / info.name / std::to_string(severity);
  }

  // Before hours of work: a DataError names what is missing.
  void check_folders() const {
    for (const CorruptionInfo& info : kinds_) {
      for (int severity = 1; severity <= kSeverities; ++severity) {
        if (std::filesystem::is_directory(folder_of(info, severity))) continue;
        throw DataError(
            "{}: there is no such folder; --corruptions NAME,.. leaves out those that are missing",
            folder_of(info, severity));
      }
    }
  }

  Accuracy measure(const std::shared_ptr<const Dataset>& dataset, const Transform& transform,
                   const std::string& label, bool only_its_classes) const {
    const auto matched = match_classes(model_.classes(), *dataset);
    Accuracy accuracy;
    TensorPass pass = model_.pass(label, options_.limit);
    pass.transform = transform;
    for_each_batch(dataset, pass, [&](const PictureBatch& batch) {
      const Tensor logits = model_.logits(batch.pixels);
      if (only_its_classes) {
        accuracy.add(restrict_classes(logits, matched), batch.labels);
      } else {
        accuracy.add(logits, model_labels(batch.labels, matched));
      }
    });
    return accuracy;
  }

  std::array<double, kSeverities> errors_of(const CorruptionInfo& info,
                                            const std::shared_ptr<const Dataset>& clean) const {
    std::array<double, kSeverities> errors{};
    for (int severity = 1; severity <= kSeverities; ++severity) {
      const std::string label = fmt::format("{} {}", info.name, severity);
      const bool files = !options_.imagenet_c.empty();
      const auto dataset =
          files ? open_dataset(folder_of(info, severity).string(), "all", Task::kClassification)
                : clean;
      const Accuracy accuracy =
          measure(dataset, files ? Transform{} : corruption(info.kind, severity), label, false);
      errors[static_cast<std::size_t>(severity - 1)] = 1 - accuracy.top1();
    }
    return errors;
  }

  // The picture as the model sees it, corrupted. The same noise for a picture whatever the order.
  Transform corruption(Corruption kind, int severity) const {
    CropTransformOptions crop;
    crop.size = static_cast<int>(model_.pass("").size);
    crop.middle = model_.pass("").crop;
    const Transform middle = middle_crop_transform(crop);
    const auto seed = static_cast<std::uint64_t>(options_.seed);
    return [middle, kind, severity, seed](Sample& sample, RandomStream& random, BatchItem& item) {
      BatchItem plain;
      middle(sample, random, plain);
      const RandomStream noise(
          seed, "corruption",
          static_cast<std::uint64_t>(kind) * kSeverities + static_cast<std::uint64_t>(severity),
          static_cast<std::uint64_t>(item.index));
      store_pixels(corrupt(plain.image, kind, severity, noise), item);
    };
  }

  ShiftedResult shifted(const std::string& spec) const {
    const auto equals = spec.find('=');
    const bool named = equals != std::string::npos && !std::filesystem::exists(spec);
    const std::string path = named ? spec.substr(equals + 1) : spec;
    const auto dataset = open_dataset(path, "all", Task::kClassification);
    ShiftedResult result;
    result.name = named ? spec.substr(0, equals) : std::filesystem::path(path).filename().string();
    result.classes = static_cast<std::int64_t>(dataset->class_keys().size());
    result.accuracy = measure(dataset, {}, result.name, true);
    return result;
  }

  // One row a corruption, the severities side by side.
  Image examples(const Dataset& clean) const {
    std::vector<Image> cells;
    const Sample first = clean.get(0);
    for (const CorruptionInfo& info : kinds_) {
      for (int severity = 1; severity <= kSeverities; ++severity) {
        Sample sample = first;
        RandomStream random(static_cast<std::uint64_t>(options_.seed), "example");
        BatchItem item;
        item.index = 0;
        corruption(info.kind, severity)(sample, random, item);
        draw_label(item.image, 0, 0, fmt::format("{} {}", info.name, severity), kBlack);
        cells.push_back(std::move(item.image));
      }
    }
    return make_grid(cells, kSeverities);
  }

  EvalRobustnessOptions options_;
  LoadedClassifier model_;
  std::vector<CorruptionInfo> kinds_;
};

nlohmann::json to_json(const RobustnessResult& result) {
  nlohmann::json json = nlohmann::json::object();
  if (result.clean) {
    json["clean"] = {{"top1", result.clean->top1()},
                     {"top5", result.clean->top5()},
                     {"pictures", result.clean->count()}};
  }
  if (!result.errors.empty()) {
    const RobustnessFigures figures = robustness_figures(result.errors);
    for (const auto& [kind, errors] : result.errors) {
      const std::string name(kCorruptions[static_cast<std::size_t>(kind)].name);
      json["corruptions"][name] = {{"errors", errors},
                                   {"mean_error", figures.error.at(kind)},
                                   {"alexnet_normalised", figures.normalised.at(kind)}};
    }
    json["mean_corruption_error_raw"] = figures.mean_error;
    json["mean_corruption_error_alexnet"] = figures.normalised_error;
  }
  for (const ShiftedResult& one : result.shifted) {
    json["shifted"][one.name] = {{"top1", one.accuracy.top1()},
                                 {"pictures", one.accuracy.count()},
                                 {"classes", one.classes}};
  }
  return json;
}

std::string corruption_text(const CorruptionErrors& errors) {
  const RobustnessFigures figures = robustness_figures(errors);
  Table table{.title = "top-1 error in percent",
              .header = {"corruption", "1", "2", "3", "4", "5", "mean", "over AlexNet's"},
              .rows = {}};
  for (const auto& [kind, each] : errors) {
    std::vector<std::string> row{std::string(kCorruptions[static_cast<std::size_t>(kind)].name)};
    for (const double error : each) row.push_back(fmt::format("{:.1f}", 100 * error));
    row.push_back(fmt::format("{:.1f}", 100 * figures.error.at(kind)));
    row.push_back(fmt::format("{:.1f}", 100 * figures.normalised.at(kind)));
    table.rows.push_back(std::move(row));
  }
  return table.to_text() +
         fmt::format(
             "\nmean corruption error, raw: {:.2f} %\nmean corruption error, each divided by "
             "AlexNet's on ImageNet-C (mCE): {:.2f} % (to be compared for ImageNet's classes "
             "only)\n",
             100 * figures.mean_error, 100 * figures.normalised_error);
}

std::string to_text(const RobustnessResult& result) {
  std::string text;
  if (!result.errors.empty()) text += corruption_text(result.errors);
  if (result.clean) {
    text += fmt::format("clean: top-1 {:.2f} % of {} pictures\n", 100 * result.clean->top1(),
                        result.clean->count());
  }
  for (const ShiftedResult& one : result.shifted) {
    text += fmt::format("{}: top-1 {:.2f} % of {} pictures among their {} classes\n", one.name,
                        100 * one.accuracy.top1(), one.accuracy.count(), one.classes);
  }
  return text;
}

}  // namespace

void run(const EvalRobustnessOptions& options, const RunContext& context) {
  if (options.data.empty() && options.imagenet_c.empty() && options.shifted.empty()) {
    throw UsageError("say what to look at: --data, --imagenet-c or --shifted");
  }
  if (options.data.empty() && !options.examples.empty()) {
    throw UsageError("--examples {}: the picture comes from --data; give both", options.examples);
  }
  make_folder_for(options.examples);
  const RobustnessResult result = RobustnessRun(options)();
  if (!options.examples.empty()) context.write_configuration_beside(options.examples);
  print_stdout(context.json ? json_text(to_json(result), 2) + "\n" : to_text(result));
}

}  // namespace addp
