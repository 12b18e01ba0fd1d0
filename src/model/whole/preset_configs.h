// The networks of a preset together.
#pragma once

#include "diffusion/addp_file.h"
#include "predictor/mage_file.h"
#include "tokenizer/vqgan_file.h"

namespace addp {

// The networks of a preset, as they go together: the sizes for two cores with the light tokenizer
// and 8x8 tokens, the others with the published one and 16x16.
struct PresetConfigs {
  VqganConfig tokenizer;
  MageConfig predictor;
  AddpConfig addp;
};
PresetConfigs preset_configs(std::string_view name, std::int64_t class_ids = 1);

}  // namespace addp
