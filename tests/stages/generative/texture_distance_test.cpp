// The distance of textures: of distributions, not of places.
#include "stages/generative/texture_distance.h"

#include <gtest/gtest.h>

#include "nn/torch.h"

namespace addp {
namespace {

Lpips::Features noise_maps(double mean, double deviation) {
  Lpips::Features maps;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    maps[i] = mean + deviation * torch::randn({4, 6, 12, 12});
  }
  return maps;
}

double distance(const Lpips::Features& real, const Lpips::Features& made) {
  return texture_distance(real, made, RandomStream(1, "test")).item<double>();
}

TEST(TextureDistance, DoesNotAskWhereATextureIs) {
  torch::manual_seed(1);
  const Lpips::Features real = noise_maps(0, 1);
  Lpips::Features moved = real;
  for (Tensor& map : moved) map = map.flip(2).roll(3, 3);
  EXPECT_NEAR(distance(real, moved), 0, 1e-9);
  EXPECT_GT((real[0] - moved[0]).square().mean().item<double>(), 0.1);
}

// What a mean over places would call perfect: the blurred picture.
TEST(TextureDistance, GrowsWithBlurAndWithAShift) {
  torch::manual_seed(1);
  const Lpips::Features real = noise_maps(0, 1);
  const double same_kind = distance(real, noise_maps(0, 1));
  EXPECT_GT(distance(real, noise_maps(0, 0.5)), 10 * same_kind);
  EXPECT_GT(distance(real, noise_maps(0.5, 1)), 10 * same_kind);
}

// Units: directions of length one in channels of deviation one (a little less, for rare channels).
TEST(TextureDistance, IsInUnitsOfTheDeviation) {
  torch::manual_seed(1);
  const Lpips::Features real = noise_maps(0, 1);
  Lpips::Features scaled = real, shifted = real, scaled_shifted = real;
  for (std::size_t i = 0; i < real.size(); ++i) {
    scaled[i] = 7 * real[i];
    shifted[i] = real[i] + 1;
    scaled_shifted[i] = 7 * real[i] + 7;
  }
  EXPECT_NEAR(distance(scaled, scaled_shifted), distance(real, shifted), 1e-3);
}

TEST(TextureDistance, GradientsGoToWhatWasMade) {
  torch::manual_seed(1);
  Lpips::Features real = noise_maps(0, 1), made = noise_maps(0, 0.5);
  for (std::size_t i = 0; i < real.size(); ++i) {
    real[i].set_requires_grad(true);
    made[i].set_requires_grad(true);
  }
  texture_distance(real, made, RandomStream(1, "test")).backward();
  for (std::size_t i = 0; i < real.size(); ++i) {
    EXPECT_FALSE(real[i].grad().defined());
    EXPECT_GT(made[i].grad().abs().max().item<double>(), 0);
  }
}

}  // namespace
}  // namespace addp
