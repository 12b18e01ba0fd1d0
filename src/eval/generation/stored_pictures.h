// Made pictures as files would hold them. FID sees what a lossy format does to a picture: where the
// reference is JPEG or WebP, pictures that were never stored so differ from it by that alone.
#pragma once

#include "image/codec/stored_as.h"
#include "nn/types.h"

namespace addp {

// [B, 3, H, W] floats in [0, 1] to bytes, on the same device.
Tensor stored_bytes(const Tensor& pixels, const StoredAs& format);

}  // namespace addp
