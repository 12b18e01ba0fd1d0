#include "model/whole/preset_configs.h"

#include "model/presets.h"
#include "nn/torch.h"

namespace addp {

PresetConfigs preset_configs(std::string_view name, std::int64_t class_ids) {
  const TransformerSize& size = companion_size(name);
  const bool light = size.name == "nano";
  PresetConfigs configs;
  configs.tokenizer = vqgan_preset(light ? "light-8" : "published");
  const Vocabulary vocabulary{configs.tokenizer.codes, class_ids};
  const Grid grid = light ? Grid{8, 8} : Grid{16, 16};
  configs.predictor = mage_preset(size.name, vocabulary, grid);
  configs.addp = addp_preset(name, vocabulary, grid, configs.tokenizer.factor());
  return configs;
}

}  // namespace addp
