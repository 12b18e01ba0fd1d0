// What is being learned: a tokenizer, a predictor, an ADDP network, a classifier, ... The trainer
// knows nothing else of it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "image/image.h"
#include "nn/kernel/dropout.h"
#include "train/learner.h"
#include "train/options.h"

namespace addp {

// Figures of a step or an evaluation, by name: "loss", "psnr", ...
using Metrics = std::map<std::string, double>;

// A step of several processes computes what one process with the whole batch would, up to rounding:
// what is drawn comes from one stream, by the number that a sample has in the batch of all
// processes, and what is averaged is averaged over all of them. The one exception are batch norms
// (ResNets, the head of a probe): they normalise by the statistics of a process's own pictures.
struct StepContext {
  std::int64_t step = 0;   // of the whole run, from 0
  std::int64_t total = 0;  // steps of the whole run
  double lr = 0;
  RandomStream stream;  // of this step, the same in all processes
  bool bf16 = false;
  std::int64_t rank = 0;
};

// A part of a step's batch, as one process sees it.
struct Microbatch {
  RandomStream stream;  // of this part, the same in all processes
  std::int64_t rank = 0;
  bool bf16 = false;

  static Microbatch of(const StepContext& context, std::int64_t part) {
    return {context.stream.fork("part", static_cast<std::uint64_t>(part)), context.rank,
            context.bf16};
  }
  // The number of the first of this process's `count` samples among those of all processes.
  std::int64_t first(std::int64_t count) const { return rank * count; }
  DropoutKeys dropout(std::int64_t count) const {
    return DropoutKeys(stream.fork("dropout"), first(count), count);
  }
};

// Draws the first weights of one of a run's networks.
inline RandomStream initial_weights(const TrainOptions& options, std::string_view network) {
  return RandomStream(static_cast<std::uint64_t>(options.seed), "initial weights").fork(network);
}

// How many held-out pictures panels show and evaluations of the generative stages use.
inline constexpr std::int64_t kShownPictures = 8, kValidationPictures = 64;

// A picture that shows what the model does now.
struct Panel {
  std::string name;  // of the file: "reconstructions", "samples"
  Image image;
};

class Stage {
 public:
  virtual ~Stage() = default;

  virtual std::string name() const = 0;  // "tokenizer"
  virtual std::string command() const { return "addp train " + name(); }
  virtual std::vector<Learner*> learners() = 0;
  virtual std::int64_t steps_per_epoch() const = 0;

  // The data of step `step` come next. Called at the start and after a resume.
  virtual void seek(std::int64_t step) = 0;
  // One optimizer step: forward, backward, update of every learner. The result must be a function
  // of the state, the data and `context.stream` alone.
  virtual Metrics step(const StepContext& context) = 0;

  // With the averaged weights in place, where there are any.
  virtual Metrics evaluate() { return {}; }
  virtual std::vector<Panel> pictures() { return {}; }
  // Which figure of evaluate() chooses the best checkpoint, and whether more is better.
  virtual std::pair<std::string, bool> best_figure() const { return {"", false}; }

  // Writes the model as other commands load it; averaged weights are in place.
  virtual void save_model(const std::filesystem::path& path, const std::string& provenance) = 0;

  // The trained weights and whatever else a resume needs beyond the learners.
  virtual TensorMap state() const = 0;
  virtual void load_state(const TensorMap& tensors, const std::string& source) = 0;

  // Bytes that one step keeps for its backward pass, roughly, for the estimate before a run.
  virtual double activation_bytes() const { return 0; }
};

}  // namespace addp
