// A recipe without a program that knows its options.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace addp {

// Every key of a TOML text with its value as text, tables joined with '-'; a DataError names
// `source` where it is not TOML.
std::map<std::string, std::string> toml_settings(std::string_view text, const std::string& source);

}  // namespace addp
