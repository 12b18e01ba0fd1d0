// Batches of pictures as tensors on the device: what networks are trained and measured on.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "data/load/picture_pass.h"
#include "nn/types.h"

namespace addp {

struct PictureBatch {
  Tensor pixels;                      // [B, 3, S, S] in [0, 1]
  Tensor labels;                      // [B] int64; -1 where there is no class
  std::vector<std::int64_t> indices;  // into the data set
};

// The tensors take the batch's memory over.
PictureBatch to_tensors(Batch&& batch);
Tensor pixel_tensor(const std::shared_ptr<Batch>& batch);

// A pass whose pictures are squares of one size.
struct TensorPass {
  PicturePass pictures{.batch = 64};
  std::int64_t size = 224;
  double crop = 1;        // share of the middle square's side
  Transform transform{};  // instead of the middle square
};

// No gradients are recorded. It is a DataError if not one picture can be used.
void for_each_batch(const std::shared_ptr<const Dataset>& dataset, const TensorPass& pass,
                    const std::function<void(const PictureBatch&)>& visit);

}  // namespace addp
