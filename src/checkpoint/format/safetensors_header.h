// The JSON header of a safetensors file, read by a strict event parser: the grammar is two
// levels deep, so that hostile nesting, repetition and wrong types end at the first event that
// does not fit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace addp {

struct SafetensorsEntry {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> metadata;
};

SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& file);

}  // namespace addp
