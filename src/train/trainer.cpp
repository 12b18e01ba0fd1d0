#include "train/trainer.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/file/file_io.h"
#include "base/interrupt.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/run/progress.h"
#include "base/version.h"
#include "machine/precision.h"
#include "nn/torch.h"
#include "train/run_log.h"
#include "train/run_state.h"
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
        schedule_(make_schedule(options, stage.steps_per_epoch())),
        files_(options.out),
        state_{.stage = stage.name(), .best = {}, .configuration = context.configuration} {}

  Metrics operator()();

 private:
  bool finished() const { return state_.step >= schedule_.total; }
  bool due(std::int64_t every) const;
  bool model_due() const { return due(options_.save_every) || finished(); }
  bool evaluation_due() const;
  void start();
  void resume();
  void save();
  void announce() const;
  void evaluate();
  void keep_best(const Metrics& metrics);
  Metrics step();
  void log_step(const Metrics& metrics, double rate);
  void after_step(bool interrupted);
  void write_models();
  void show(bool pictures, bool page);
  std::string provenance() const;
  NonFiniteError not_finite(std::int64_t step, const NonFiniteError& error) const;
  // Runs `action` with the averaged weights of all learners in the networks.
  template <class Action>
  void with_averaged_weights(Action action);

  Stage& stage_;
  const TrainOptions& options_;
  World& world_;
  const RunContext& context_;
  Schedule schedule_;
  RunFiles files_;
  RunState state_;
  bool bf16_ = false;
  std::optional<RunLog> log_;
  std::optional<UnsavedWork> unsaved_;
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
  return json_text(json{{"data", options_.data},
                        {"steps", state_.step},
                        {"batch_size", options_.batch_size},
                        {"seed", options_.seed},
                        {"arithmetic", state_.arithmetic},
                        {"command", context_.command_line},
                        {"version", version()}});
}

// What can be lost ends here: a signal may end the process from now on.
void Run::save() {
  if (world_.is_main()) {
    TensorMap tensors = stage_.state();
    for (Learner* learner : stage_.learners()) tensors.merge(learner->state());
    try {
      files_.save(state_, tensors);
    } catch (const NonFiniteError& error) {
      throw not_finite(state_.step - 1, error);
    }
  }
  unsaved_.reset();
}

void Run::resume() {
  if (!options_.resume) {
    if (world_.is_main()) files_.forget();
    return;
  }
  const auto saved = files_.load(stage_.name());
  if (!saved) return;
  const std::string source = saved->path.string();
  stage_.load_state(saved->tensors, source);
  for (Learner* learner : stage_.learners()) learner->load_state(saved->tensors, source);
  if (world_.is_main()) {
    warn_of_changes(saved->state.configuration, context_.configuration, source);
    note("resuming {} at step {} of {}", source, saved->state.step, schedule_.total);
    if (!saved->state.arithmetic.empty() && saved->state.arithmetic != state_.arithmetic) {
      warn("{} was computed in {}, and goes on in {}: not what it would have become there", source,
           saved->state.arithmetic, state_.arithmetic);
    }
  }
  const std::string arithmetic = state_.arithmetic;
  state_ = saved->state;
  state_.arithmetic = arithmetic;
  state_.configuration = context_.configuration;
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
      "{}: {} trained parameters, {} steps of {} pictures in {}; about {} for weights, gradients "
      "and optimizer and at most {} for activations",
      stage_.name(), format_count(static_cast<std::uint64_t>(parameters)), schedule_.total,
      options_.batch_size, state_.arithmetic, format_bytes(static_cast<std::uint64_t>(fixed)),
      format_bytes(static_cast<std::uint64_t>(stage_.activation_bytes())));
}

void Run::keep_best(const Metrics& metrics) {
  const auto [figure, more_is_better] = stage_.best_figure();
  const auto it = metrics.find(figure);
  if (it == metrics.end() || !std::isfinite(it->second)) return;
  const std::optional<double>& best = state_.best;
  if (best && (more_is_better ? it->second <= *best : it->second >= *best)) return;
  state_.best = it->second;
  stage_.save_model(options_.out / "best.safetensors", provenance());
}

bool Run::due(std::int64_t every) const { return every > 0 && state_.step % every == 0; }

bool Run::evaluation_due() const {
  return (due(options_.eval_every) || finished()) && state_.step > 0 &&
         state_.evaluated != state_.step;
}

void Run::evaluate() {
  with_averaged_weights([&] {
    const Metrics metrics = stage_.evaluate();
    state_.evaluated = state_.step;
    state_.evaluation = metrics;
    if (!world_.is_main()) return;
    if (!metrics.empty()) log_->metrics("eval", state_.step, metrics);
    keep_best(metrics);
  });
  if (finished()) save();  // earlier ones are kept by the next save, or made again
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

void Run::log_step(const Metrics& metrics, double rate) {
  if (!due(options_.log_every) && !finished()) return;
  Metrics line = mean_of_ranks(metrics, world_);
  if (!world_.is_main()) return;
  line["lr"] = schedule_.at(state_.step - 1);
  line["pictures_per_second"] = rate * static_cast<double>(options_.batch_size);
  log_->metrics("train", state_.step, line);
}

// The state is saved before the evaluation and the pictures, which may take long: an interrupt or a
// kill meanwhile costs no step, and an evaluation that was not finished is made after the resume.
void Run::after_step(bool interrupted) {
  const bool shown = due(options_.picture_every) || finished();
  if (model_due() || due(options_.keep_every) || shown || interrupted || evaluation_due()) save();
  write_models();
  if (interrupted) return;
  if (evaluation_due()) evaluate();
  show(shown, model_due());
}

// What others load of the state that is saved.
void Run::write_models() {
  if (!world_.is_main()) return;
  if (due(options_.keep_every)) {
    const MappedFile state(files_.newest());
    write_file_atomically(options_.out / fmt::format("step-{}.safetensors", state_.step),
                          state.bytes());
  }
  if (model_due()) {
    with_averaged_weights(
        [&] { stage_.save_model(options_.out / "model.safetensors", provenance()); });
  }
}

void Run::show(bool pictures, bool page) {
  if (!world_.is_main()) return;
  if (pictures) with_averaged_weights([&] { log_->pictures(state_.step, stage_.pictures()); });
  if (page) log_->write_page(stage_.command(), context_.command_line);
}

NonFiniteError Run::not_finite(std::int64_t step, const NonFiniteError& error) const {
  return NonFiniteError(
      "step {} (epoch {}, batch {}): {}; the checkpoint of the last save is kept, try a lower "
      "learning rate, --clip or --precision fp32",
      step, step / stage_.steps_per_epoch(), step % stage_.steps_per_epoch(), error.what());
}

Metrics Run::step() {
  const StepContext context{state_.step,
                            schedule_.total,
                            schedule_.at(state_.step),
                            RandomStream(static_cast<std::uint64_t>(options_.seed), "step of all",
                                         static_cast<std::uint64_t>(state_.step)),
                            bf16_,
                            world_.rank()};
  try {
    return stage_.step(context);
  } catch (const NonFiniteError& error) {
    throw not_finite(state_.step, error);
  }
}

void Run::start() {
  make_folder(options_.out);
  resume();
  world_.barrier();  // all have read the state before one of them writes the next
  announce();
  if (world_.is_main()) {
    context_.write_configuration(options_.out);
    log_.emplace(options_.out, state_.step + 1,
                 state_.evaluated >= 0 ? state_.evaluated + 1 : state_.step);
  }
  stage_.seek(state_.step);
  // The run may have been stopped between the save and what follows it. The last thing that a whole
  // run does is to evaluate.
  const bool whole = finished() && state_.evaluated == state_.step;
  if (state_.step > 0 && !whole) write_models();
  if (!evaluation_due()) return;
  evaluate();
  if (finished()) show(true, true);
}

Metrics Run::operator()() {
  // Where one of the processes has no fast bfloat16, none uses it.
  bf16_ = !world_.any(!bf16_here(options_.precision));
  state_.arithmetic = bf16_ ? "bf16" : "fp32";
  start();
  Progress progress(stage_.name(), schedule_.total, "steps", state_.step);
  while (!finished()) {
    unsaved_.emplace();
    const Metrics metrics = step();
    ++state_.step;
    if (world_.is_main()) progress.update(state_.step, summary(metrics));
    // A signal may reach the processes at different steps: they stop together.
    const bool interrupted = world_.any(interrupt_requested());
    log_step(metrics, progress.rate());
    after_step(interrupted);
    if (interrupted) {
      world_.finish();
      throw InterruptedError(
          "interrupted; the run is saved at step {}, the same command resumes it", state_.step);
    }
  }
  world_.finish();
  return state_.evaluation;
}

}  // namespace

Metrics train(Stage& stage, const TrainOptions& options, World& world, const RunContext& context) {
  return Run(stage, options, world, context)();
}

}  // namespace addp
