// How far the textures of two batches of pictures lie apart, whichever place each texture has.
#pragma once

#include "base/random.h"
#include "eval/generation/lpips.h"

namespace addp {

// The sliced Wasserstein distance of the features of each layer (Heitz et al. 2021, "A sliced
// Wasserstein loss for neural texture synthesis"), mean over the layers: positions of all pictures
// are projected onto random directions of `stream`, and what comes out is compared in sorted order.
// A distance of features at the same place is least for their mean, which is blurred; this one is
// zero only where all textures are there as often as in `real`. Channels count alike, in units of
// their deviation in `real` (a little more for rare ones). Gradients go to `made`.
Tensor texture_distance(const Lpips::Features& real, const Lpips::Features& made,
                        const RandomStream& stream);

}  // namespace addp
