// Greedy non-maximum suppression: the best box is kept, those that overlap it too much go,
// and so on.
#pragma once

#include "nn/types.h"

namespace addp {

// `boxes` [N, 4] corners, `scores` [N]. Indices of the kept boxes, best first; equal scores keep
// their order. A box goes when its IoU with a kept one is above `threshold`.
Tensor nms(const Tensor& boxes, const Tensor& scores, double threshold);

// The same within each class (or pyramid level): boxes of different `classes` [N] never
// suppress each other.
Tensor batched_nms(const Tensor& boxes, const Tensor& scores, const Tensor& classes,
                   double threshold);

}  // namespace addp
