#include "checkpoint/layout/weights_digest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/file/sha256.h"
#include "checkpoint/format/safetensors.h"

namespace addp {
namespace {

constexpr std::string_view kForFastSampling = "bypass";

std::string sizes_of(const std::string& config) {
  nlohmann::json sizes = nlohmann::json::parse(config, nullptr, /*allow_exceptions=*/false);
  if (!sizes.is_object()) return config;
  sizes.erase(std::string(kForFastSampling));
  return sizes.dump();
}

}  // namespace

std::string weights_digest(const std::filesystem::path& file) {
  if (file.extension() != ".safetensors") return FileDigest(file).hex();
  const Safetensors model = read_safetensors(file);
  const auto config = model.metadata.find("addp.config");
  if (config == model.metadata.end()) return FileDigest(file).hex();
  Sha256 digest;
  digest.add(as_byte_span(sizes_of(config->second)));
  for (const auto& [name, tensor] : model.tensors) {
    if (name.starts_with(fmt::format("{}.", kForFastSampling))) continue;
    digest.add(as_byte_span(
        fmt::format("{} {} {}\n", name, dtype_name(tensor.dtype), fmt::join(tensor.shape, "x"))));
    with_contiguous_bytes(tensor, [&](ByteSpan bytes) { digest.add(bytes); });
  }
  return digest.hex();
}

}  // namespace addp
