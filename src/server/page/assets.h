// The files of the page (assets/), inside the program.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace addp {

struct Asset {
  std::string_view name;  // "app.js"
  const unsigned char* data;
  std::size_t size;
  std::string_view hash;  // of the content, for caches

  std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }
};

std::span<const Asset> assets();
// Null where there is none of that name.
const Asset* find_asset(std::string_view name);
std::string_view content_type(std::string_view name);

}  // namespace addp
