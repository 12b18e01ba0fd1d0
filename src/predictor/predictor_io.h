// Token predictors from files. They are written together with their tokenizer
// (diffusion/model_io.h).
#pragma once

#include <filesystem>
#include <memory>

#include "nn/config_json.h"
#include "nn/load.h"
#include "nn/model_file.h"
#include "predictor/mage.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(MageConfig, vocabulary, grid, width, depth, heads,
                                                decoder_width, decoder_depth, decoder_heads,
                                                mlp_ratio, dropout, attention_dropout)

// A row of nn/presets.h's table.
MageConfig mage_preset(std::string_view name, const Vocabulary& vocabulary, const Grid& grid);

// Heads leave no trace in the shapes of a foreign file: above 0 these replace nn/presets.h's guess.
struct HeadCounts {
  std::int64_t encoder = 0;
  std::int64_t decoder = 0;
};

// From our predictor file or a published MAGE checkpoint. The network is frozen.
std::shared_ptr<Mage> load_predictor(const std::filesystem::path& path,
                                     LoadReport* report = nullptr, HeadCounts heads = {});

}  // namespace addp
