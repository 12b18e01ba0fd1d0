#include "eval/recognition/picture_tensors.h"

#include "base/error.h"
#include "data/load/transforms.h"
#include "machine/machine.h"
#include "nn/torch.h"

namespace addp {

Tensor pixel_tensor(const std::shared_ptr<Batch>& batch) {
  const auto count = static_cast<std::int64_t>(batch->size());
  return torch::from_blob(batch->floats.data(), {count, 3, batch->shape.height, batch->shape.width},
                          [batch](void*) {})
      .to(compute_device());
}

PictureBatch to_tensors(Batch&& batch) {
  PictureBatch out;
  std::vector<std::int64_t> labels;
  for (const BatchItem& item : batch.items) {
    labels.push_back(item.class_id);
    out.indices.push_back(item.index);
  }
  out.pixels = pixel_tensor(std::make_shared<Batch>(std::move(batch)));
  out.labels = torch::tensor(labels, torch::kInt64).to(compute_device());
  return out;
}

void for_each_batch(const std::shared_ptr<const Dataset>& dataset, const TensorPass& pass,
                    const std::function<void(const PictureBatch&)>& visit) {
  torch::NoGradGuard guard;
  CropTransformOptions crop;
  crop.size = static_cast<int>(pass.size);
  crop.middle = pass.crop;
  const PassCount count =
      for_each_batch(dataset, pass.pictures, BatchShape{crop.size, crop.size, PixelKind::kFloat},
                     pass.transform ? pass.transform : middle_crop_transform(crop),
                     [&](Batch& batch) { visit(to_tensors(std::move(batch))); });
  if (count.seen == 0 && count.left_out > 0) {
    throw DataError("{}: not one picture can be used", dataset->description());
  }
}

}  // namespace addp
