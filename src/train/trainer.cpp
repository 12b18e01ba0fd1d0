#include "train/trainer.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file_io.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/version.h"
#include "checkpoint/format/safetensors.h"
#include "machine/precision.h"
#include "nn/torch.h"
#include "train/run_log.h"
#include "train/schedule.h"

namespace addp {
namespace {

using nlohmann::json;

class Run {
 public:
  Run(Stage& stage, const TrainOptions& options, World& world, const RunContext& context)
      : stage_(stage),
        options_(options),
        world_(world),
        context_(context),
        schedule_(make_schedule(options, stage.steps_per_epoch())) {}

  Metrics operator()();

 private:
  std::filesystem::path last_path() const { return options_.out / "last.safetensors"; }
  void resume();
  void save() const;
  void announce() const;
  Metrics evaluate();
  void keep_best(const Metrics& metrics);
  void after_step(const Metrics& metrics, double rate, bool interrupted);
  std::string provenance() const;
  // Runs `action` with the averaged weights of all learners in the networks.
  template <class Action>
  void with_averaged_weights(Action action);

  Stage& stage_;
  const TrainOptions& options_;
  World& world_;
  const RunContext& context_;
  Schedule schedule_;
  std::optional<RunLog> log_;
  std::int64_t step_ = 0;
  std::optional<double> best_;
};

template <class Action>
void Run::with_averaged_weights(Action action) {
  std::vector<std::unique_ptr<AveragedWeights>> scopes;
  for (Learner* learner : stage_.learners()) {
    scopes.push_back(std::make_unique<AveragedWeights>(*learner));
  }
  action();
}

std::string Run::provenance() const {
  return json{{"data", options_.data},
              {"steps", step_},
              {"batch_size", options_.batch_size},
              {"seed", options_.seed},
              {"command", context_.command_line},
              {"version", version()}}
      .dump();
}

void Run::save() const {
  if (!world_.is_main()) return;
  TensorMap tensors = stage_.state();
  for (Learner* learner : stage_.learners()) tensors.merge(learner->state());
  std::map<std::string, std::string> metadata = {{"addp.kind", "training-state"},
                                                 {"addp.stage", stage_.name()},
                                                 {"addp.version", std::string(version())},
                                                 {"addp.step", std::to_string(step_)},
                                                 {"addp.configuration", context_.configuration}};
  if (best_) metadata["addp.best"] = fmt::format("{}", *best_);
  write_safetensors(last_path(), tensors, metadata);
}

// "name = value" of every line, by name.
std::map<std::string, std::string> settings_of(const std::string& configuration) {
  std::map<std::string, std::string> settings;
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('#') || equals == std::string::npos) continue;
    settings[line.substr(0, equals)] = line.substr(0, line.find("  #"));
  }
  return settings;
}

void warn_of_changes(const std::string& before, const std::string& now) {
  // These may change between a run and its resumption without changing the result.
  static const std::set<std::string> kHarmless = {
      "steps",      "out",        "threads",    "workers",   "processes",
      "device",     "save-every", "keep-every", "log-every", "picture-every",
      "eval-every", "resume",     "config",     "json",      "quiet"};
  const auto old_settings = settings_of(before);
  for (const auto& [name, setting] : settings_of(now)) {
    const auto old = old_settings.find(name);
    if (old == old_settings.end() || old->second == setting || kHarmless.contains(name)) continue;
    warn("resuming with '{}' where the run had '{}'", setting, old->second);
  }
}

void Run::resume() {
  if (!options_.resume || !std::filesystem::exists(last_path())) return;
  const Safetensors saved = read_safetensors(last_path());
  const auto field = [&](const std::string& name) {
    const auto it = saved.metadata.find("addp." + name);
    return it == saved.metadata.end() ? std::string() : it->second;
  };
  if (field("stage") != stage_.name()) {
    throw DataError(
        "{}: holds a run of '{}', not of '{}'; choose another --out or give --no-resume",
        last_path(), field("stage"), stage_.name());
  }
  stage_.load_state(saved.tensors, last_path().string());
  for (Learner* learner : stage_.learners())
    learner->load_state(saved.tensors, last_path().string());
  step_ = std::stoll(field("step"));
  if (!field("best").empty()) best_ = std::stod(field("best"));
  if (world_.is_main()) {
    warn_of_changes(field("configuration"), context_.configuration);
    note("resuming {} at step {} of {}", last_path().string(), step_, schedule_.total);
  }
}

void Run::announce() const {
  if (!world_.is_main()) return;
  double parameters = 0, copies = 0;
  for (Learner* learner : stage_.learners()) {
    for (const auto& parameter : learner->optimizer().parameters()) {
      parameters += static_cast<double>(parameter.numel());
    }
    copies = std::max(copies, learner->averages() ? 5.0 : 4.0);
  }
  const double fixed = parameters * copies * 4;
  note(
      "{}: {} trained parameters, {} steps of {} pictures; about {} for weights, gradients and "
      "optimizer and {} for activations",
      stage_.name(), format_count(static_cast<std::uint64_t>(parameters)), schedule_.total,
      options_.batch_size, format_bytes(static_cast<std::uint64_t>(fixed)),
      format_bytes(static_cast<std::uint64_t>(stage_.activation_bytes())));
}

void Run::keep_best(const Metrics& metrics) {
  const auto [figure, more_is_better] = stage_.best_figure();
  const auto it = metrics.find(figure);
  if (it == metrics.end() || !std::isfinite(it->second)) return;
  if (best_ && (more_is_better ? it->second <= *best_ : it->second >= *best_)) return;
  best_ = it->second;
  stage_.save_model(options_.out / "best.safetensors", provenance());
}

Metrics Run::evaluate() {
  Metrics metrics;
  with_averaged_weights([&] {
    metrics = stage_.evaluate();
    if (!world_.is_main()) return;
    if (!metrics.empty()) log_->metrics("eval", step_, metrics);
    keep_best(metrics);
  });
  return metrics;
}

std::string summary(const Metrics& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics) {
    if (name == "lr" || name == "rate") continue;
    text += fmt::format("{}{} {:.4g}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

// Every rank has the same figures, of its own part of the batch.
Metrics mean_of_ranks(Metrics metrics, World& world) {
  if (world.size() == 1) return metrics;
  std::vector<double> values;
  for (const auto& [name, value] : metrics) values.push_back(value);
  const Tensor packed = torch::tensor(values, torch::kFloat64);
  world.all_reduce_mean(packed);
  std::int64_t place = 0;
  for (auto& [name, value] : metrics) value = packed[place++].item<double>();
  return metrics;
}

void Run::after_step(const Metrics& metrics, double rate, bool interrupted) {
  const auto due = [this](std::int64_t every) { return every > 0 && step_ % every == 0; };
  const bool done = step_ == schedule_.total;
  const bool logged = due(options_.log_every) || done;
  Metrics line = logged ? mean_of_ranks(metrics, world_) : Metrics();
  if (world_.is_main() && logged) {
    line["lr"] = schedule_.at(step_ - 1);
    line["pictures_per_second"] = rate * static_cast<double>(options_.batch_size);
    log_->metrics("train", step_, line);
  }
  if (due(options_.eval_every) && !done) evaluate();
  const bool saved = due(options_.save_every) || done;
  if (saved || interrupted) save();
  if (world_.is_main() && saved) {
    with_averaged_weights(
        [&] { stage_.save_model(options_.out / "model.safetensors", provenance()); });
  }
  if (world_.is_main() && (due(options_.picture_every) || done)) {
    with_averaged_weights([&] { log_->pictures(step_, stage_.pictures()); });
  }
  if (world_.is_main() && saved) {
    log_->write_page(fmt::format("addp train {}", stage_.name()), context_.command_line);
  }
  if (world_.is_main() && due(options_.keep_every)) {
    std::filesystem::copy_file(last_path(),
                               options_.out / fmt::format("step-{}.safetensors", step_),
                               std::filesystem::copy_options::overwrite_existing);
  }
}

Metrics Run::operator()() {
  make_folder(options_.out);
  resume();
  announce();
  if (world_.is_main()) {
    context_.write_configuration(options_.out);
    log_.emplace(options_.out, step_ + 1);
  }
  stage_.seek(step_);
  const bool bf16 = bf16_here(options_.precision);
  Progress progress(stage_.name(), schedule_.total, "steps", step_);
  while (step_ < schedule_.total) {
    StepContext context{step_,
                        schedule_.total,
                        schedule_.at(step_),
                        RandomStream(static_cast<std::uint64_t>(options_.seed), "step of all",
                                     static_cast<std::uint64_t>(step_)),
                        bf16,
                        world_.rank()};
    Metrics metrics;
    try {
      metrics = stage_.step(context);
    } catch (const NonFiniteError& error) {
      throw NonFiniteError(
          "step {} (epoch {}, batch {}): {}; the checkpoint of the last save is kept, try a lower "
          "learning rate, --clip or --precision fp32",
          step_, step_ / stage_.steps_per_epoch(), step_ % stage_.steps_per_epoch(), error.what());
    }
    ++step_;
    if (world_.is_main()) progress.update(step_, summary(metrics));
    // A signal may reach the processes at different steps: they stop together.
    const bool interrupted = world_.any(interrupt_requested());
    after_step(metrics, progress.rate(), interrupted);
    if (interrupted) {
      world_.finish();
      throw InterruptedError(
          "interrupted; the run is saved at step {}, the same command resumes it", step_);
    }
  }
  const Metrics metrics = evaluate();
  world_.finish();
  return metrics;
}

}  // namespace

Metrics train(Stage& stage, const TrainOptions& options, World& world, const RunContext& context) {
  return Run(stage, options, world, context)();
}

}  // namespace addp
