// Any text as what a model says about itself: a DataError, or metadata that survive being written
// and read again.
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/json_text.h"
#include "checkpoint/layout/recognise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace addp;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t middle = text.find('\n');
  Checkpoint checkpoint;
  checkpoint.path = "fuzz";
  checkpoint.metadata = {
      {std::string(kKindKey), "addp"},
      {std::string(kConfigKey), text.substr(0, middle)},
      {std::string(kProvenanceKey), middle == std::string::npos ? "{}" : text.substr(middle + 1)}};
  try {
    const auto own = own_metadata(checkpoint);
    if (!own || !own->config.is_object() || !own->provenance.is_object()) __builtin_trap();
    if (json_text(recognise(checkpoint).to_json()).empty()) __builtin_trap();
    Checkpoint again;
    again.path = "again";
    for (const auto& [key, value] : to_safetensors_metadata(*own)) again.metadata[key] = value;
    if (!own_metadata(again)) __builtin_trap();
  } catch (const DataError&) {
  }
  return 0;
}
