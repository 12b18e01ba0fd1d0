// Mixup (Zhang et al. 2018) and cutmix (Yun et al. 2019) of the pictures of a batch in pairs, and
// the targets that go with them. Pairs are neighbours, so that a share of a batch that holds whole
// pairs mixes as the whole batch does.
#pragma once

#include "base/random.h"
#include "image/box.h"
#include "nn/types.h"

namespace addp {

struct MixOptions {
  double mixup = 0.8;      // alpha of the Beta distribution; 0: none
  double cutmix = 1;       // the same; with both, either is drawn with equal probability
  double smoothing = 0.1;  // share of a target that is spread over all classes
};

// What happens to one batch.
struct MixDraw {
  double own = 1;  // share of a picture's own label
  PixelBox box{};  // cutmix: what the other picture covers; width 0: the whole is blended
  // From a picture to its partner: 1, or as often as a picture is repeated in a row, so that it is
  // mixed with another one. What has no partner is mixed with itself.
  std::int64_t distance = 1;
};

// Beta(alpha, alpha).
double draw_beta(double alpha, RandomStream& random);
MixDraw draw_mix(const MixOptions& options, int width, int height, RandomStream& random);

// pixels [B, 3, H, W] -> the same shape.
Tensor mix_pixels(const Tensor& pixels, const MixDraw& draw);
// labels [B] -> targets [B, classes] whose rows sum to 1.
Tensor mix_targets(const Tensor& labels, std::int64_t classes, const MixDraw& draw,
                   double smoothing);

// The mean over pictures and classes of the binary cross-entropy, one classifier per class
// (Wightman et al. 2021). A threshold above 0 makes targets above it 1 and the others 0.
Tensor binary_class_loss(const Tensor& logits, const Tensor& targets, double threshold);

}  // namespace addp
