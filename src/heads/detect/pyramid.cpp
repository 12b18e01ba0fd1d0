#include "heads/detect/pyramid.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "nn/torch.h"

namespace addp {
namespace {

Tensor every_second(const Tensor& map) { return at::max_pool2d(map, 1, 2); }

class SimplePyramid : public FeaturePyramid {
 public:
  SimplePyramid(std::int64_t width, std::int64_t patch, const std::vector<std::int64_t>& strides,
                std::int64_t channels) {
    for (const std::int64_t stride : strides) {
      const std::string number = std::to_string(stride);
      if (stride > 2 * patch) {
        ++repeats_;
        continue;
      }
      scales_.push_back(register_module(
          "scale" + number, std::make_shared<Rescale>(width, patch, stride, /*narrowing=*/true)));
      reduces_.push_back(register_module(
          "reduce" + number,
          std::make_shared<ConvNorm>(scales_.back()->outputs(), channels, 1, /*relu=*/false)));
      smooths_.push_back(register_module(
          "smooth" + number, std::make_shared<ConvNorm>(channels, channels, 3, /*relu=*/false)));
    }
  }

  std::vector<Tensor> forward(const std::array<Tensor, 4>& maps) const override {
    std::vector<Tensor> levels;
    for (std::size_t i = 0; i < scales_.size(); ++i) {
      levels.push_back(smooths_[i]->forward(reduces_[i]->forward(scales_[i]->forward(maps[3]))));
    }
    for (std::int64_t i = 0; i < repeats_; ++i) levels.push_back(every_second(levels.back()));
    return levels;
  }

 private:
  std::int64_t repeats_ = 0;
  std::vector<std::shared_ptr<Rescale>> scales_;
  std::vector<std::shared_ptr<ConvNorm>> reduces_, smooths_;
};

class TopDownPyramid : public FeaturePyramid {
 public:
  TopDownPyramid(const std::array<std::int64_t, 4>& inputs, std::size_t levels,
                 std::int64_t channels)
      : repeats_(static_cast<std::int64_t>(levels) - 4) {
    for (std::size_t i = 0; i < 4; ++i) {
      laterals_.push_back(
          register_module(fmt::format("lateral{}", i),
                          std::make_shared<ConvNorm>(inputs[i], channels, 1, /*relu=*/false)));
      smooths_.push_back(
          register_module(fmt::format("smooth{}", i),
                          std::make_shared<ConvNorm>(channels, channels, 3, /*relu=*/false)));
    }
  }

  std::vector<Tensor> forward(const std::array<Tensor, 4>& maps) const override {
    std::vector<Tensor> levels(4);
    Tensor above;
    for (std::size_t i = 4; i-- > 0;) {
      Tensor here = laterals_[i]->forward(maps[i]);
      if (above.defined()) here = here + at::upsample_nearest2d(above, here.sizes().slice(2));
      above = here;
      levels[i] = smooths_[i]->forward(here);
    }
    for (std::int64_t i = 0; i < repeats_; ++i) levels.push_back(every_second(levels.back()));
    return levels;
  }

 private:
  std::int64_t repeats_;
  std::vector<std::shared_ptr<ConvNorm>> laterals_, smooths_;
};

}  // namespace

std::shared_ptr<FeaturePyramid> make_pyramid(const Maps& maps,
                                             const std::vector<std::int64_t>& strides,
                                             std::int64_t channels) {
  for (std::size_t i = 1; i < strides.size(); ++i) {
    if (strides[i] != 2 * strides[i - 1]) {
      throw UsageError("pyramid strides {}: each must be twice the one before",
                       fmt::join(strides, ", "));
    }
  }
  if (maps.is_transformer()) {
    const std::int64_t stride = maps.strides()[3];
    if (strides.empty() || strides.front() > 2 * stride) {
      throw UsageError("pyramid strides must start at {} or less", 2 * stride);
    }
    return std::make_shared<SimplePyramid>(maps.channels()[3], stride, strides, channels);
  }
  if (strides.size() < 4 || strides.front() != maps.strides().front()) {
    throw UsageError("this ResNet's pyramid has the strides {} and perhaps more",
                     fmt::join(maps.strides(), ", "));
  }
  return std::make_shared<TopDownPyramid>(maps.channels(), strides.size(), channels);
}

}  // namespace addp
