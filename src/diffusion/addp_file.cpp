#include "diffusion/addp_file.h"

#include "base/error.h"
#include "base/log.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {
namespace {

AddpConfig config_of(const ModelFile& file, HeadCounts heads) {
  AddpConfig config = file.foreign() ? addp_config_from(file.tensors, file.source)
                                     : parse_config<AddpConfig>(file.config, file.source);
  if (heads.encoder > 0) config.encoder.vit.heads = heads.encoder;
  if (heads.decoder > 0) config.decoder_heads = heads.decoder;
  return config;
}

void check_pair(const Addp& network, const Vqgan& tokenizer, const std::string& source) {
  const AddpConfig& config = network.config();
  require_codes(config.vocabulary, tokenizer, source);
  if (config.encoder.stride() != tokenizer.factor()) {
    throw DataError(
        "{} has patches of {} pixels, its tokenizer tokens of {}: give the tokenizer it was "
        "trained with",
        source, config.encoder.stride(), tokenizer.factor());
  }
}

}  // namespace

AddpConfig addp_preset(std::string_view name, const Vocabulary& vocabulary, const Grid& grid,
                       std::int64_t stride) {
  return addp_config(encoder_preset(name, grid, stride), companion_size(name), vocabulary, grid);
}

AddpConfig addp_config(const EncoderConfig& encoder, const TransformerSize& decoder,
                       const Vocabulary& vocabulary, const Grid& grid) {
  return {.encoder = encoder,
          .vocabulary = vocabulary,
          .grid = grid,
          .decoder_width = decoder.decoder_width,
          .decoder_depth = decoder.decoder_depth,
          .decoder_heads = decoder.decoder_heads};
}

LoadedAddp load_addp(const std::filesystem::path& path, const std::filesystem::path& tokenizer_path,
                     HeadCounts heads) {
  return load_addp(open_model(path, {"addp"}),
                   tokenizer_path.empty() ? nullptr : load_tokenizer(tokenizer_path), heads);
}

LoadedAddp load_addp(const ModelFile& file, std::shared_ptr<Vqgan> tokenizer, HeadCounts heads) {
  require_kind(file, {"addp"});
  AddpConfig config = config_of(file, heads);
  std::vector<std::string> unused = addp_unused_names(config);
  // Files of an earlier version: their bypass gave patches, and did not say of what width.
  if (config.bypass.width > 0 && config.bypass.encoder_width == 0) {
    warn("{}: was prepared for --fast by an earlier version; 'addp distil' does it again",
         file.source);
    config.bypass = {};
    unused.emplace_back("bypass.*");
  }
  LoadedAddp loaded;
  loaded.network =
      from_file(file.source, [&] { return on_device(std::make_shared<Addp>(config)); });
  loaded.report = load_strictly(
      *loaded.network, file.tensors,
      {.source = file.source, .unused = unused, .file_name = file_names(config.encoder.kind)});
  loaded.network->eval();
  loaded.provenance = file.provenance;
  loaded.tokenizer = tokenizer ? std::move(tokenizer) : tokenizer_in(file);
  if (!loaded.tokenizer) {
    throw DataError("{} has no tokenizer inside: name its tokenizer's file, too", file.source);
  }
  check_pair(*loaded.network, *loaded.tokenizer, file.source);
  return loaded;
}

void save_addp(const std::filesystem::path& path, const Addp& network, const Vqgan& tokenizer,
               const std::string& provenance) {
  ModelFile file{.kind = "addp", .config = network.config()};
  file.tensors = state_of(network, file_names(network.config().encoder.kind));
  put_tokenizer(tokenizer, file);
  save_model(path, file, provenance);
}

}  // namespace addp
