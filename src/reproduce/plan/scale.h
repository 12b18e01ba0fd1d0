// How large everything is: recipes, lengths and grids of a reproduction, by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace addp {

// How one kind of network is trained: a recipe of configs/, what is changed of it, and how long.
struct StageScale {
  std::string recipe;              // "addp/cells.toml"
  std::vector<std::string> words;  // after the recipe's
  std::int64_t batch = 0;
  std::int64_t steps = 0;  // 0: epochs
  double epochs = 0;
  double warmup = 0.04;  // share of the steps
};

struct Scale {
  std::string name, summary;
  std::string data;                  // where none is given
  std::string dense;                 // the same for boxes and label maps
  std::int64_t size = 0;             // side of the pictures
  std::string preset;                // of encoders from scratch
  std::int64_t patch = 0;            // pixels under a token
  std::int64_t depth = 0;            // blocks of the encoder
  std::vector<std::int64_t> probed;  // of them, those with a linear probe
  std::string convolutional;         // the ResNet beside it, a preset
  StageScale tokenizer, predictor, addp;
  StageScale ablation;  // ADDP where the paper ablates
  StageScale resnet;    // ADDP with the ResNet
  StageScale classifier, scratch, resnet_classifier, probe, detector, segmenter;

  std::int64_t samples = 0;        // of a FID
  std::int64_t sample_steps = 20;  // the paper's for ablations
  std::vector<std::int64_t> step_grid;
  std::vector<double> top_p, constant_temperature, falling_temperature;
  std::vector<double> label_shares;
  std::int64_t robustness_pictures = 0;   // 0: all
  std::int64_t shown = 0;                 // pictures of a sheet
  std::vector<std::string> requirements;  // what the machine must have, said before it starts
};

std::vector<std::string> scale_names();
// A UsageError lists the names.
Scale scale_of(std::string_view name);

}  // namespace addp
