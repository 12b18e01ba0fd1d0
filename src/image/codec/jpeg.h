// JPEG through libjpeg-turbo: whole pictures, reduced ones, and regions of which only the needed
// part is decoded.
#pragma once

#include <memory>
#include <string>

#include "image/box.h"
#include "image/codec/codec.h"

namespace addp {

// Reads the header on construction. One of the read functions may be called, once.
class JpegReader {
 public:
  JpegReader(ByteSpan bytes, const std::string& name, const DecodeLimits& limits);
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  ImageInfo info() const;
  int stored_width() const;
  int stored_height() const;

  // The stored picture (not yet upright) at 1/denominator: 1, 2, 4 or 8.
  Image read(int denominator);
  // A part of the stored picture at 1/denominator, in pixels of the reduced picture. Equal to the
  // same part of read(denominator). What lies below the region is not looked at, beyond the check
  // that the file has an end.
  Image read_region(int denominator, const PixelBox& region);
  GrayImage read_gray();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The largest reduction among 1, 2, 4, 8 that leaves width x height at least
// min_width x min_height.
int jpeg_denominator(float width, float height, float min_width, float min_height);

}  // namespace addp
