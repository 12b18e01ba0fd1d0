#include "eval/generation/stored_pictures.h"

#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"

namespace addp {

Tensor stored_bytes(const Tensor& pixels, const StoredAs& format) {
  if (!format.changes_pixels()) return to_bytes(pixels);
  std::vector<Image> images = to_images(pixels);
  for (Image& image : images) image = through_file(image, format);
  return to_bytes(to_tensor(images)).to(pixels.device());
}

}  // namespace addp
