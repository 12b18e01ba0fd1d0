// ADDP models from and to files.
#pragma once

#include <filesystem>
#include <memory>

#include "diffusion/addp.h"
#include "model/load.h"
#include "model/model_file.h"
#include "nn/encoder/encoder_json.h"
#include "predictor/mage_file.h"
#include "tokenizer/vqgan_file.h"

namespace addp {

NLOHMANN_JSON_SERIALIZE_ENUM(TokenInput, {{TokenInput::kDecoder, "decoder"},
                                          {TokenInput::kEncoderAndDecoder, "encoder-and-decoder"},
                                          {TokenInput::kNone, "none"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(BypassConfig, code_width, width, blocks, skip,
                                                encoder_width, grid)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(AddpConfig, encoder, vocabulary, grid,
                                                decoder_width, decoder_depth, decoder_heads,
                                                mlp_ratio, dropout, attention_dropout, token_input,
                                                bypass)

AddpConfig addp_config(const EncoderConfig& encoder, const TransformerSize& decoder,
                       const Vocabulary& vocabulary, const Grid& grid);
// A row of model/presets.h's tables. `stride` is the pixels of a token.
AddpConfig addp_preset(std::string_view name, const Vocabulary& vocabulary, const Grid& grid,
                       std::int64_t stride);

struct LoadedAddp {
  std::shared_ptr<Addp> network;
  std::shared_ptr<Vqgan> tokenizer;
  LoadReport report;          // of the network
  nlohmann::json provenance;  // empty for foreign files
};

// From our model (a file, or a folder with model.safetensors) or a published .pth. The tokenizer is
// the one inside the file, or the one given, which wins.
LoadedAddp load_addp(const ModelFile& file, std::shared_ptr<Vqgan> tokenizer,
                     HeadCounts heads = {});
LoadedAddp load_addp(const std::filesystem::path& path,
                     const std::filesystem::path& tokenizer_path = {}, HeadCounts heads = {});

// The tokenizer goes into the file, so that a model works by itself. `provenance` is JSON text.
void save_addp(const std::filesystem::path& path, const Addp& network, const Vqgan& tokenizer,
               const std::string& provenance);

}  // namespace addp
