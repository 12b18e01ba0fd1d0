// The training runs of the demo: what they have in common, and the recognisers.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "commands/start/demo.h"
#include "train/stage.h"
#include "train/trainer.h"

namespace addp {

inline constexpr std::int64_t kDemoSide = 32;  // pixels; 8x8 tokens of 4 pixels

// The plain procedural set, with so many shapes in a picture: one of them is what a few minutes
// suffice to learn to draw, several are what a detector is for.
std::string demo_data(const DemoOptions& options, int objects);

// Settings that all runs share, on pictures of one shape; `steps` is for --scale 1.
TrainOptions demo_training(const DemoOptions& options, const char* stage, double steps,
                           std::int64_t batch);

struct DemoRow {
  std::string stage;
  double seconds = 0;
  Metrics metrics;
  Image panel;          // what it does now
  std::string caption;  // empty: the panel is not shown
};

template <class StageOptions>
DemoRow run_demo_stage(const StageOptions& options, const RunContext& context) {
  const auto start = std::chrono::steady_clock::now();
  World world;
  const auto stage = make_stage(options, world);
  const Metrics metrics = train(*stage, options.train, world, context);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto panels = stage->pictures();
  return {stage->name(), took.count(), metrics, panels.empty() ? Image() : panels.front().image,
          ""};
}

// A classifier, a detector and a segmenter on the encoder that the demo pre-trained.
void train_recognisers(const DemoOptions& options, const RunContext& context,
                       std::vector<DemoRow>& rows);

}  // namespace addp
