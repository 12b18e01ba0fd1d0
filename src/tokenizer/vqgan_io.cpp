#include "tokenizer/vqgan_io.h"

#include "base/error.h"
#include "base/version.h"
#include "checkpoint/recognise.h"
#include "checkpoint/safetensors.h"
#include "nn/load.h"

namespace addp {

using nlohmann::json;

json to_json(const VqganConfig& c) {
  return {{"channels", c.channels},     {"multipliers", c.multipliers},      {"blocks", c.blocks},
          {"codes", c.codes},           {"code_width", c.code_width},        {"stem", c.stem},
          {"unit_codes", c.unit_codes}, {"input_shortcut", c.input_shortcut}};
}

VqganConfig vqgan_config_from_json(const json& value, const std::string& source) {
  VqganConfig c;
  try {
    value.at("channels").get_to(c.channels);
    value.at("multipliers").get_to(c.multipliers);
    value.at("blocks").get_to(c.blocks);
    value.at("codes").get_to(c.codes);
    value.at("code_width").get_to(c.code_width);
    value.at("stem").get_to(c.stem);
    value.at("unit_codes").get_to(c.unit_codes);
    value.at("input_shortcut").get_to(c.input_shortcut);
  } catch (const json::exception& error) {
    throw DataError("{}: its tokenizer configuration cannot be read: {}", source, error.what());
  }
  return c;
}

std::shared_ptr<Vqgan> tokenizer_from(const Checkpoint& checkpoint, const std::string& prefix) {
  const std::string source = checkpoint.path.string();
  TensorMap own;
  for (const auto& [name, view] : checkpoint.tensors) {
    if (name.starts_with(prefix)) own[name.substr(prefix.size())] = view;
  }
  VqganConfig config = vqgan_config_from(own, source);
  if (const auto metadata = own_metadata(checkpoint)) {
    const json& saved = metadata->config;
    const json& part = prefix.empty() ? saved : saved.value("tokenizer", json::object());
    if (part.contains("channels")) config = vqgan_config_from_json(part, source);
  }
  auto tokenizer = std::make_shared<Vqgan>(config);
  load_strictly(*tokenizer, own, {.source = source});
  for (auto& parameter : tokenizer->parameters()) parameter.set_requires_grad(false);
  return tokenizer;
}

std::shared_ptr<Vqgan> load_tokenizer(const std::filesystem::path& path) {
  const auto file = std::filesystem::is_directory(path) ? path / "model.safetensors" : path;
  const Checkpoint checkpoint = open_checkpoint(file);
  const bool inside = has_prefix(checkpoint.tensors, "vqgan.");
  return tokenizer_from(checkpoint, inside ? "vqgan." : "");
}

void save_tokenizer(const std::filesystem::path& path, const Vqgan& tokenizer,
                    const std::string& provenance) {
  const OwnMetadata own{"tokenizer", std::string(version()), to_json(tokenizer.config()),
                        json::parse(provenance)};
  write_safetensors(path, state_of(tokenizer), to_safetensors_metadata(own));
}

}  // namespace addp
