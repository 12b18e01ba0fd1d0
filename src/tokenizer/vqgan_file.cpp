#include "tokenizer/vqgan_file.h"

#include <charconv>

#include "checkpoint/layout/key_report.h"
#include "machine/machine.h"
#include "model/presets.h"
#include "nn/torch.h"

namespace addp {
namespace {

constexpr const char* kCodebook = "quantize.embedding.weight";

std::vector<std::int64_t> numbers(std::string_view text) {
  std::vector<std::int64_t> found;
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at < end; ++at) {
    at = std::from_chars(at, end, found.emplace_back()).ptr;
  }
  return found;
}

}  // namespace

VqganConfig vqgan_preset(std::string_view name) {
  const TokenizerSize& size = tokenizer_size(name);
  return {.channels = size.channels,
          .multipliers = numbers(size.multipliers),
          .blocks = size.blocks,
          .codes = size.codes,
          .code_width = size.code_width,
          .stem = size.stem,
          .unit_codes = size.unit_codes,
          .input_shortcut = size.input_shortcut,
          .groups = size.groups};
}

std::shared_ptr<Vqgan> tokenizer_in(const ModelFile& file, LoadReport* report) {
  const std::string prefix = file.tensors.contains(kCodebook) ? "" : kTokenizerInside;
  if (!file.tensors.contains(prefix + kCodebook)) {
    const auto shared = shared_tokenizer(file.config, file.source);
    return shared.empty() ? nullptr : tokenizer_in(open_model(shared), report);
  }
  const nlohmann::json config = file.foreign() ? nlohmann::json()
                                : file.kind == "tokenizer"
                                    ? file.config
                                    : file.config.value("tokenizer", nlohmann::json());
  const auto network = from_file(file.source, [&] {
    return on_device(std::make_shared<Vqgan>(
        config.is_object()
            ? parse_config<VqganConfig>(config, file.source)
            : vqgan_config_from(with_prefix_removed(file.tensors, prefix), file.source)));
  });
  const LoadReport loaded =
      load_strictly(*network, file.tensors, {.source = file.source, .prefix = prefix});
  if (report != nullptr) *report = loaded;
  for (Tensor& parameter : network->parameters()) parameter.set_requires_grad(false);
  network->eval();
  return network;
}

std::shared_ptr<Vqgan> load_tokenizer(const std::filesystem::path& path, LoadReport* report) {
  return load_tokenizer(open_model(path, {"tokenizer", "predictor", "addp"}), report);
}

std::shared_ptr<Vqgan> load_tokenizer(const ModelFile& file, LoadReport* report) {
  auto tokenizer = tokenizer_in(file, report);
  if (!tokenizer) throw DataError("{} contains no tokenizer: give one that does", file.source);
  return tokenizer;
}

void put_tokenizer(const Vqgan& tokenizer, ModelFile& file) {
  file.tensors.merge(state_of(tokenizer, {}, kTokenizerInside));
  file.config["tokenizer"] = tokenizer.config();
}

void save_tokenizer(const std::filesystem::path& path, const Vqgan& tokenizer,
                    const std::string& provenance) {
  save_model(path,
             {.kind = "tokenizer", .tensors = state_of(tokenizer), .config = tokenizer.config()},
             provenance);
}

}  // namespace addp
