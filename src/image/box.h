// Rectangles in a picture: whole pixels, and fractions of pixels for resampling.
#pragma once

namespace addp {

struct PixelBox {
  int left = 0, top = 0, width = 0, height = 0;
  int right() const { return left + width; }
  int bottom() const { return top + height; }
  bool operator==(const PixelBox&) const = default;
};

// Edges, not centres: the whole picture is {0, 0, width, height}.
struct Box {
  float left = 0, top = 0, right = 0, bottom = 0;
  float width() const { return right - left; }
  float height() const { return bottom - top; }
  bool operator==(const Box&) const = default;
};

inline Box to_box(const PixelBox& box) {
  return {float(box.left), float(box.top), float(box.right()), float(box.bottom())};
}

}  // namespace addp
