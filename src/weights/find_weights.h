// Where the networks that metrics and losses use lie on this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace addp {

// The networks that metrics and losses use: "inception" and "lpips". `chosen` if it is not empty (a
// DataError if there is no such file), else NAME*.safetensors in the folder that ADDP_WEIGHTS
// names, else in the cache. Nothing where none of these has it; a DataError where a folder has two,
// because figures of different networks cannot be compared.
std::optional<std::filesystem::path> find_weights(const std::string& name,
                                                  const std::filesystem::path& chosen);

}  // namespace addp
