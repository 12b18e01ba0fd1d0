// Decode, crop, resize and flip in one go: what a loader does with every picture. For JPEG
// only the part inside the crop is decoded, at a reduced scale where the result is much
// smaller than the crop.
#pragma once

#include <functional>
#include <string>

#include "image/codec/codec.h"
#include "image/resize/resize.h"

namespace addp {

struct CropRequest {
  PixelBox box;     // in the upright picture
  int width = 224;  // of the result
  int height = 224;
  Resample filter = Resample::kBicubic;
  bool mirror = false;  // left to right
  // Take JPEG's 1/2, 1/4 or 1/8 while that is still at least as large as the result. Without it the
  // result equals crop(), then resize(), of the whole decoded picture exactly.
  bool reduced = true;
};

// `choose` sees the header and answers with the crop; it is called once, before any
// pixel is decoded.
Image decode_crop(ByteSpan bytes, const std::string& name,
                  const std::function<CropRequest(const ImageInfo&)>& choose,
                  const DecodeLimits& limits = {});

}  // namespace addp
