// Token predictors from and to files.
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

// From our predictor file or a published MAGE checkpoint. `heads` above 0 replace the guess for a
// foreign file of unusual width.
struct HeadCounts {
  std::int64_t encoder = 0;
  std::int64_t decoder = 0;
};
std::shared_ptr<Mage> load_predictor(const std::filesystem::path& path,
                                     LoadReport* report = nullptr, HeadCounts heads = {});

void save_predictor(const std::filesystem::path& path, const Mage& predictor,
                    const nlohmann::json& provenance);

}  // namespace addp
