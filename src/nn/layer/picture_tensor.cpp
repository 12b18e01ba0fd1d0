#include "nn/layer/picture_tensor.h"

#include <cstring>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {

Tensor to_tensor(const Image& image) {
  const Tensor bytes =
      torch::from_blob(const_cast<std::uint8_t*>(image.pixels.data()),  // only read
                       {image.height, image.width, 3}, torch::kUInt8);
  return bytes.permute({2, 0, 1}).to(torch::kFloat32, false, /*copy=*/true).contiguous().div_(255);
}

Tensor to_tensor(const std::vector<Image>& images) {
  std::vector<Tensor> all;
  for (const auto& image : images) {
    if (image.width != images[0].width || image.height != images[0].height) {
      throw UsageError("pictures of {}x{} and {}x{} cannot share a batch", images[0].width,
                       images[0].height, image.width, image.height);
    }
    all.push_back(to_tensor(image));
  }
  return torch::stack(all);
}

Tensor to_bytes(const Tensor& pixels) {
  return (pixels.detach().to(torch::kFloat32).clamp(0, 1) * 255).round().to(torch::kUInt8);
}

Image to_image(const Tensor& pixels) {
  const Tensor bytes = to_bytes(pixels.cpu()).permute({1, 2, 0}).contiguous();
  Image image(static_cast<int>(bytes.size(1)), static_cast<int>(bytes.size(0)));
  std::memcpy(image.pixels.data(), bytes.data_ptr<std::uint8_t>(), image.pixels.size());
  return image;
}

std::vector<Image> to_images(const Tensor& pixels) {
  std::vector<Image> images;
  for (std::int64_t i = 0; i < pixels.size(0); ++i) images.push_back(to_image(pixels[i]));
  return images;
}

Image picture_rows(const std::vector<Tensor>& batches, int gap) {
  const auto columns = static_cast<int>(batches.at(0).size(0));
  const auto height = static_cast<int>(batches[0].size(2)),
             width = static_cast<int>(batches[0].size(3));
  Image sheet(columns * (width + gap) - gap,
              static_cast<int>(batches.size()) * (height + gap) - gap);
  std::fill(sheet.pixels.begin(), sheet.pixels.end(), std::uint8_t{255});
  for (std::size_t row = 0; row < batches.size(); ++row) {
    for (int column = 0; column < columns; ++column) {
      const Image picture = to_image(batches[row][column]);
      for (int y = 0; y < height; ++y) {
        std::memcpy(sheet.at(column * (width + gap), static_cast<int>(row) * (height + gap) + y),
                    picture.row(y), static_cast<std::size_t>(width) * 3);
      }
    }
  }
  return sheet;
}

}  // namespace addp
