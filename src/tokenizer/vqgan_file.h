// Tokenizers from and to files.
#pragma once

#include <filesystem>
#include <memory>

#include "checkpoint/layout/shared_tokenizer.h"
#include "model/load.h"
#include "model/model_file.h"
#include "tokenizer/vqgan.h"

namespace addp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(VqganConfig, channels, multipliers, blocks, codes,
                                                code_width, stem, unit_codes, input_shortcut,
                                                groups, finish, half_chroma)

// A row of model/presets.h's table.
VqganConfig vqgan_preset(std::string_view name);

// From our tokenizer or model file, a published tokenizer (.ckpt), or a checkpoint that has one
// inside under "vqgan." or shares one of its folder (checkpoint/layout/shared_tokenizer.h). A
// DataError when there is none. The network is frozen.
std::shared_ptr<Vqgan> load_tokenizer(const ModelFile& file, LoadReport* report = nullptr);
std::shared_ptr<Vqgan> load_tokenizer(const std::filesystem::path& path,
                                      LoadReport* report = nullptr);
// From an opened file; null when it has none.
std::shared_ptr<Vqgan> tokenizer_in(const ModelFile& file, LoadReport* report = nullptr);

// Puts a tokenizer into the file of a network that needs it, where tokenizer_in() finds it.
void put_tokenizer(const Vqgan& tokenizer, ModelFile& file);

// `provenance` is JSON text: the data, the steps, the command.
void save_tokenizer(const std::filesystem::path& path, const Vqgan& tokenizer,
                    const std::string& provenance);

}  // namespace addp
