// Between pictures (8-bit RGB, interleaved) and tensors ([3, H, W] or [B, 3, H, W], floats
// in [0, 1]).
#pragma once

#include <vector>

#include "image/image.h"
#include "nn/types.h"

namespace addp {

Tensor to_tensor(const Image& image);                // [3, H, W]
Tensor to_tensor(const std::vector<Image>& images);  // [B, 3, H, W], all of one size
Image to_image(const Tensor& pixels);                // [3, H, W]; clamped and rounded
std::vector<Image> to_images(const Tensor& pixels);  // [B, 3, H, W]
Tensor to_bytes(const Tensor& pixels);               // of any shape: as files would hold them

// A sheet with one row for each batch, all of the same length: inputs above what was made of them.
Image picture_rows(const std::vector<Tensor>& batches, int gap = 2);

}  // namespace addp
