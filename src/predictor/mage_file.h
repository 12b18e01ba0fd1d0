// Token predictors from and to files.
#pragma once

#include <filesystem>
#include <memory>

#include "model/load.h"
#include "model/model_file.h"
#include "model/presets.h"
#include "nn/encoder/encoder_json.h"
#include "predictor/mage.h"
#include "tokenizer/vqgan_file.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(MageConfig, vocabulary, grid, width, depth, heads,
                                                decoder_width, decoder_depth, decoder_heads,
                                                mlp_ratio, dropout, attention_dropout)

MageConfig mage_config(const TransformerSize& size, const Vocabulary& vocabulary, const Grid& grid);
// A row of model/presets.h's table.
MageConfig mage_preset(std::string_view name, const Vocabulary& vocabulary, const Grid& grid);

// Heads leave no trace in the shapes of a foreign file: above 0 these
// replace model/presets.h's guess.
struct HeadCounts {
  std::int64_t encoder = 0;
  std::int64_t decoder = 0;
};

// From our predictor file or a published MAGE checkpoint. The network is frozen.
std::shared_ptr<Mage> load_predictor(const ModelFile& file, LoadReport* report = nullptr,
                                     HeadCounts heads = {});
std::shared_ptr<Mage> load_predictor(const std::filesystem::path& path,
                                     LoadReport* report = nullptr, HeadCounts heads = {});

// A DataError if the network of `source` was made for another tokenizer.
void require_codes(const Vocabulary& vocabulary, const Vqgan& tokenizer, const std::string& source);

// The tokenizer goes into the file, so that a predictor works by itself. `provenance` is JSON text.
void save_predictor(const std::filesystem::path& path, const Mage& predictor,
                    const Vqgan& tokenizer, const std::string& provenance);

}  // namespace addp
