// What is being learned: a tokenizer, a predictor, an ADDP network, a classifier, ... The trainer
// knows nothing else of it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "image/image.h"
#include "train/learner.h"
#include "train/options.h"

namespace addp {

// Figures of a step or an evaluation, by name: "loss", "psnr", ...
using Metrics = std::map<std::string, double>;

struct StepContext {
  std::int64_t step = 0;   // of the whole run, from 0
  std::int64_t total = 0;  // steps of the whole run
  double lr = 0;
  RandomStream stream;  // of this step and process
  bool bf16 = false;
  // Of this step, the same in all processes: with the numbers that samples have in the batch of all
  // of them, two ranks draw what one would.
  RandomStream shared = RandomStream(0, "step of all");
  std::int64_t rank = 0;
};

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
