// The uint8 pictures of a safetensors fixture, read without the checkpoint folder.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file/file_io.h"
#include "image/image.h"
#include "support/fixtures.h"

namespace addp::testing {

inline std::map<std::string, Image> read_pictures(const std::filesystem::path& path) {
  const Bytes bytes = read_file(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  const auto header =
      nlohmann::json::parse(bytes.begin() + 8, bytes.begin() + 8 + std::ptrdiff_t(length));
  std::map<std::string, Image> pictures;
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__" || tensor.at("dtype") != "U8") continue;
    Image image(tensor.at("shape").at(1).get<int>(), tensor.at("shape").at(0).get<int>());
    const std::size_t begin = tensor.at("data_offsets").at(0).get<std::size_t>();
    std::memcpy(image.pixels.data(), bytes.data() + 8 + length + begin, image.pixels.size());
    pictures[name] = std::move(image);
  }
  return pictures;
}

inline int largest_difference(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height) return 256;
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    largest = std::max(largest, std::abs(int(a.pixels[i]) - int(b.pixels[i])));
  }
  return largest;
}

}  // namespace addp::testing
