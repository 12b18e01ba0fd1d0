// The one picture type of the program: 8-bit RGB, rows from top to bottom, pixels interleaved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace addp {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  // [height, width, 3]

  Image() = default;
  Image(int w, int h) : width(w), height(h), pixels(std::size_t(w) * std::size_t(h) * 3) {}

  bool empty() const { return pixels.empty(); }
  std::uint8_t* row(int y) { return pixels.data() + std::size_t(y) * std::size_t(width) * 3; }
  const std::uint8_t* row(int y) const {
    return pixels.data() + std::size_t(y) * std::size_t(width) * 3;
  }
  std::uint8_t* at(int x, int y) { return row(y) + std::size_t(x) * 3; }
  const std::uint8_t* at(int x, int y) const { return row(y) + std::size_t(x) * 3; }
  bool operator==(const Image&) const = default;
};

// One 8-bit channel: label maps, masks.
struct GrayImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  // [height, width]

  GrayImage() = default;
  GrayImage(int w, int h) : width(w), height(h), pixels(std::size_t(w) * std::size_t(h)) {}

  bool empty() const { return pixels.empty(); }
  std::uint8_t* row(int y) { return pixels.data() + std::size_t(y) * std::size_t(width); }
  const std::uint8_t* row(int y) const {
    return pixels.data() + std::size_t(y) * std::size_t(width);
  }
  bool operator==(const GrayImage&) const = default;
};

}  // namespace addp
