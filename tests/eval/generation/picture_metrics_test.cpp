#include "eval/generation/picture_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "nn/torch.h"

namespace addp {
namespace {

Tensor noise(std::vector<std::int64_t> shape, std::uint64_t seed) {
  const auto out = torch::empty(shape);
  RandomStream(seed, "test").fill_uniform({out.data_ptr<float>(), std::size_t(out.numel())});
  return out;
}

TEST(PictureMetrics, PsnrOfAKnownError) {
  const auto a = torch::zeros({2, 3, 8, 9}), b = torch::full({2, 3, 8, 9}, 0.1);
  EXPECT_NEAR(psnr(a, b)[0].item<double>(), 20, 1e-5);
  const auto grey = torch::full({1, 3, 8, 8}, 100, torch::kByte);
  EXPECT_NEAR(psnr(grey, grey + 51)[0].item<double>(), 20 * std::log10(5.0), 1e-9);
  EXPECT_TRUE(std::isinf(psnr(a, a)[0].item<double>()));
}

TEST(PictureMetrics, BytesAndFloatsAgree) {
  const auto a = (noise({2, 3, 20, 17}, 1) * 255).round(),
             b = (noise({2, 3, 20, 17}, 2) * 255).round();
  const auto ab = a.to(torch::kByte), bb = b.to(torch::kByte);
  EXPECT_TRUE(torch::allclose(psnr(a / 255, b / 255), psnr(ab, bb), 1e-5));
  EXPECT_TRUE(torch::allclose(ssim(a / 255, b / 255), ssim(ab, bb), 1e-5));
}

TEST(PictureMetrics, SsimOfConstantPicturesFollowsTheFormula) {
  // Without any variance only the luminance term is left.
  const auto a = torch::full({1, 1, 16, 16}, 0.5), b = torch::full({1, 1, 16, 16}, 0.25);
  const double c1 = 1e-4, expected = (2 * 0.125 + c1) / (0.25 + 0.0625 + c1);
  EXPECT_NEAR(ssim(a, b)[0].item<double>(), expected, 1e-9);
}

// The definition, window by window.
double ssim_by_hand(const Tensor& a, const Tensor& b) {
  const auto x = a.to(torch::kDouble), y = b.to(torch::kDouble);
  const auto u = torch::arange(11, torch::kDouble) - 5;
  const auto g = torch::exp(-u * u / 4.5);
  const auto w = torch::outer(g, g) / g.sum().pow(2);
  double sum = 0;
  int count = 0;
  for (std::int64_t c = 0; c < x.size(0); ++c) {
    for (std::int64_t i = 0; i + 11 <= x.size(1); ++i) {
      for (std::int64_t j = 0; j + 11 <= x.size(2); ++j, ++count) {
        const auto p = x[c].slice(0, i, i + 11).slice(1, j, j + 11);
        const auto q = y[c].slice(0, i, i + 11).slice(1, j, j + 11);
        const auto mp = (w * p).sum(), mq = (w * q).sum();
        const auto vp = (w * (p - mp).pow(2)).sum(), vq = (w * (q - mq).pow(2)).sum();
        const auto vpq = (w * (p - mp) * (q - mq)).sum();
        sum += ((2 * mp * mq + 1e-4) * (2 * vpq + 9e-4) /
                ((mp * mp + mq * mq + 1e-4) * (vp + vq + 9e-4)))
                   .item<double>();
      }
    }
  }
  return sum / count;
}

TEST(PictureMetrics, SsimEqualsItsDefinition) {
  const auto a = noise({2, 3, 14, 12}, 3), b = (a + 0.3 * noise({2, 3, 14, 12}, 4)).clamp(0, 1);
  const auto values = ssim(a, b);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(values[i].item<double>(), ssim_by_hand(a[i], b[i]), 1e-9);
  EXPECT_NEAR(ssim(a, a).min().item<double>(), 1, 1e-12);
}

TEST(PictureMetrics, WrongShapesAreRefused) {
  EXPECT_THROW(ssim(torch::zeros({1, 3, 10, 20}), torch::zeros({1, 3, 10, 20})), UsageError);
  EXPECT_THROW(psnr(torch::zeros({1, 3, 10, 20}), torch::zeros({1, 3, 20, 10})), UsageError);
}

}  // namespace
}  // namespace addp
