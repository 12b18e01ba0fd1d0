#include "commands/measure/eval_fid.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/json_text.h"
#include "base/run/progress.h"
#include "checkpoint/layout/checkpoint.h"
#include "checkpoint/layout/recognise.h"
#include "checkpoint/named/find_model.h"
#include "commands/make/sampling.h"
#include "data/load/open_dataset.h"
#include "eval/generation/generation_report.h"
#include "eval/generation/picture_set.h"
#include "eval/generation/stored_pictures.h"
#include "eval/recognition/class_match.h"
#include "generate/recipe.h"
#include "machine/machine.h"
#include "machine/precision.h"
#include "nn/torch.h"
#include "weights/metric_weights.h"

namespace addp {
namespace {

namespace fs = std::filesystem;

bool has_ending(const std::string& name, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char* ending) { return name.ends_with(ending); });
}

enum class SetKind { kPictures, kStatistics, kModel };

SetKind kind_of(const std::string& spec) {
  std::error_code ignored;
  if (fs::is_directory(spec, ignored)) {
    return fs::exists(fs::path(spec) / "model.safetensors") ? SetKind::kModel : SetKind::kPictures;
  }
  if (!fs::exists(spec, ignored) && is_model(spec, {"addp", "predictor"})) return SetKind::kModel;
  if (spec.ends_with(".npz")) return SetKind::kStatistics;
  if (has_ending(spec, {".pth", ".pt", ".ckpt"})) return SetKind::kModel;
  if (!spec.ends_with(".safetensors")) return SetKind::kPictures;
  return own_metadata(open_checkpoint(spec)) ? SetKind::kModel : SetKind::kStatistics;
}

// The class of every picture to sample: each as often as the reference has it.
std::vector<std::int64_t> classes_of_reference(const EvalFidOptions& options,
                                               const Generator& model, std::int64_t count) {
  if (!options.condition.name.empty()) throw UsageError("--per-class and --class: give one");
  if (model.class_names().empty()) {
    throw UsageError("{}: was trained without classes; omit --per-class", model.source());
  }
  const auto dataset = open_dataset(options.sets[1], options.split, Task::kClassification);
  const auto known = static_cast<std::int64_t>(model.class_names().size());
  const auto matched = match_classes({known, model.class_names(), {}}, *dataset);
  std::vector<std::int64_t> classes;
  for (std::int64_t i = 0; i < count; ++i) {
    const int at = dataset->class_of(i * dataset->size() / count % dataset->size());
    classes.push_back(matched.at(static_cast<std::size_t>(at)));
  }
  return classes;
}

using PictureSink = std::function<void(std::int64_t, const Tensor&)>;

// The same as Generator::sample_all, with a class for every picture.
void sample_classes(const Generator& model, const GenerationPlan& plan,
                    const std::vector<std::int64_t>& classes, const PictureSink& sink,
                    const SamplerHooks& hooks) {
  for (std::int64_t first = 0; first < plan.count; first += plan.batch) {
    std::vector<PictureAsk> asks;
    for (std::int64_t i = first; i < std::min(first + plan.batch, plan.count); ++i) {
      const auto number = static_cast<std::size_t>(i);
      asks.push_back({{plan.seed, number}, classes[number]});
    }
    sink(first, model.sample_asked(asks, plan, hooks).pixels);
  }
}

// Pictures of a model, rounded to 8 bits as they would be in files.
FeatureSet features_of_model(const EvalFidOptions& options, std::int64_t count,
                             const InceptionNetwork& network) {
  Generator model =
      Generator::open_for(bf16_here(options.precision), options.sets[0], options.tokenizer);
  model.only_make();
  const StoredAs stored = stored_as(options.as);
  GenerationPlan plan;
  plan.seed = static_cast<std::uint64_t>(options.seed);
  plan.count = count;
  plan.batch = options.batch;
  plan.bf16 = model.for_bf16();
  plan.sampler = options.sampler;
  std::vector<std::int64_t> classes;
  if (options.per_class) {
    classes = classes_of_reference(options, model, count);
    plan.sampler.guidance = options.condition.guidance;
  } else {
    model.ask_for(options.condition.name, options.condition.guidance, plan);
  }
  model.check(plan.sampler);
  std::string source =
      fmt::format("{} sampled from {} with seed {}", count, options.sets[0], options.seed);
  for (const auto& [name, value] : sampler_settings(options.sampler)) {
    source += fmt::format(", {} {}", name, value);
  }
  if (plan.label >= 0) {
    source += fmt::format(", class {}, guidance {}", options.condition.name, plan.sampler.guidance);
  }
  if (options.per_class) {
    source += fmt::format(", classes as in the reference, guidance {}", plan.sampler.guidance);
  }
  if (stored.changes_pixels()) source += ", kept as " + options.as;
  FeatureCollector collector(network, kKeptFeatures, {"", source, "none"});
  Progress progress("sample", count, "pictures");
  SamplerHooks hooks;
  hooks.cancelled = interrupt_requested;
  const PictureSink sink = [&](std::int64_t first, const Tensor& pixels) {
    collector.add(stored_bytes(pixels, stored));
    progress.update(first + pixels.size(0));
  };
  if (options.per_class) {
    sample_classes(model, plan, classes, sink, hooks);
  } else {
    model.sample_all(plan, sink, hooks);
  }
  return std::move(collector).finish();
}

FeatureSet features_of(const std::string& spec, const std::string& split, std::int64_t count,
                       const EvalFidOptions& options, const InceptionNetwork* network) {
  if (kind_of(spec) == SetKind::kStatistics) return read_feature_set(spec);
  PictureSetOptions set;
  set.data = spec;
  set.split = split;
  set.count = count;
  set.size = options.size;
  return options.cache ? cached_features(set, *network) : collect_features(set, *network);
}

// Wherever it can be had; not to have it is an error only where it was asked for.
std::optional<MeanDeviation> score_of(const FeatureSet& generated, const EvalFidOptions& options) {
  const bool possible =
      generated.logits.defined() && generated.logits.size(0) >= kInceptionScoreSplits;
  if (!possible && !options.inception_score) return std::nullopt;
  return inception_score_of(generated);
}

nlohmann::json to_json(const GenerationFigures& figures,
                       const std::optional<MeanDeviation>& score) {
  nlohmann::json json = {{"fid", figures.fid}, {"protocol", figures.protocol}};
  if (figures.kid) json["kid"] = *figures.kid;
  if (figures.manifold) {
    json["precision"] = figures.manifold->precision;
    json["recall"] = figures.manifold->recall;
  }
  if (figures.reference_to_itself) json["reference_to_itself"] = *figures.reference_to_itself;
  if (score) {
    json["inception_score"] = {{"mean", score->mean}, {"deviation", score->deviation}};
    json["protocol"].push_back(
        fmt::format("Inception Score: mean and deviation of {} parts of the generated pictures",
                    kInceptionScoreSplits));
  }
  return json;
}

void print_figures(const nlohmann::json& json) {
  const auto line = [&](const char* key, const char* title, int digits) {
    if (json.contains(key)) {
      print_stdout(fmt::format("{:<10} {:.{}f}\n", title, json[key].get<double>(), digits));
    }
  };
  line("fid", "FID", 3);
  line("kid", "KID", 5);
  line("precision", "precision", 4);
  line("recall", "recall", 4);
  if (json.contains("inception_score")) {
    print_stdout(fmt::format("{:<10} {:.3f} +- {:.3f}\n", "IS",
                             json["inception_score"]["mean"].get<double>(),
                             json["inception_score"]["deviation"].get<double>()));
  }
  for (const auto& text : json["protocol"]) print_stdout("  " + text.get<std::string>() + "\n");
}

}  // namespace

void run(const EvalFidOptions& options, const RunContext& context) {
  if (options.sets.size() != 2) {
    throw UsageError("give two sets, the generated one and then the reference; {} were given",
                     options.sets.size());
  }
  check(options.sampler);
  // Refused before anything is computed.
  if (stored_as(options.as).changes_pixels() || options.per_class) {
    if (kind_of(options.sets[0]) != SetKind::kModel) {
      throw UsageError("{}: is no model; --per-class and --as are for what a model makes",
                       options.sets[0]);
    }
  }
  use_machine(options.compute);
  if (kind_of(options.sets[1]) == SetKind::kModel) {
    throw UsageError("{}: a model cannot be the reference; name it first", options.sets[1]);
  }
  std::optional<InceptionNetwork> opened;  // not needed to compare statistics
  if (std::any_of(options.sets.begin(), options.sets.end(),
                  [](const auto& spec) { return kind_of(spec) != SetKind::kStatistics; })) {
    opened = InceptionNetwork::open(need_weights("inception", options.weights),
                                    bf16_here(options.features));
    if (options.inception_score && !opened->has_classifier()) inception_score_of({});  // refused
  }
  const InceptionNetwork* network = opened ? &*opened : nullptr;
  const FeatureSet reference =
      features_of(options.sets[1], options.split, options.reference_count, options, network);
  FeatureSet generated;
  if (kind_of(options.sets[0]) == SetKind::kModel) {
    const std::int64_t count =
        options.count > 0 ? options.count : std::max<std::int64_t>(2, reference.statistics.count());
    generated = features_of_model(options, count, *network);
  } else {
    generated =
        features_of(options.sets[0], options.generated_split, options.count, options, network);
  }
  if (!options.save.empty()) {
    write_feature_set(options.save, generated);
    context.write_configuration_beside(options.save);
  }
  const nlohmann::json json =
      to_json(compare_sets(generated, reference), score_of(generated, options));
  if (context.json) {
    print_stdout(json_text(json, 2) + "\n");
  } else {
    print_figures(json);
  }
}

}  // namespace addp
