#include "heads/detect/roi_align.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "machine/parallel.h"
#include "nn/torch.h"

namespace addp {
namespace {

// A box reaching far outside would ask for an endless number of samples, all of them zero.
constexpr std::int64_t kMaxSampling = 4096;

// One bilinear sample: four pixels of the feature map and their weights.
struct RoiSample {
  std::array<std::int64_t, 4> pixel;
  std::array<float, 4> weight;
};

struct Map {
  std::int64_t batch, channels, height, width;
};

// Adds the sample at (y, x), unless it lies more than a pixel outside, where it is zero.
void add_sample(float y, float x, const Map& map, float share, std::vector<RoiSample>& samples) {
  if (!(y >= -1 && y <= float(map.height) && x >= -1 && x <= float(map.width))) return;
  y = std::max(y, 0.0F);
  x = std::max(x, 0.0F);
  const auto y0 = std::min(std::int64_t(y), map.height - 1);
  const auto x0 = std::min(std::int64_t(x), map.width - 1);
  const auto y1 = std::min(y0 + 1, map.height - 1), x1 = std::min(x0 + 1, map.width - 1);
  const float fy = y0 == y1 ? 0 : y - float(y0), fx = x0 == x1 ? 0 : x - float(x0);
  samples.push_back(
      {{y0 * map.width + x0, y0 * map.width + x1, y1 * map.width + x0, y1 * map.width + x1},
       {share * (1 - fy) * (1 - fx), share * (1 - fy) * fx, share * fy * (1 - fx),
        share * fy * fx}});
}

// The samples of one box, cell by cell, and where each cell's begin.
struct Plan {
  std::int64_t picture = 0;
  std::vector<RoiSample> samples;
  std::vector<std::size_t> first;  // cells + 1
};

std::int64_t samples_along(float cell, std::int64_t sampling) {
  if (sampling > 0) return sampling;
  return std::clamp<std::int64_t>(std::int64_t(std::ceil(std::min(cell, 1e6F))), 0, kMaxSampling);
}

Plan plan_box(const float* roi, const Map& map, const RoiAlignOptions& options) {
  const float scale = float(options.scale);
  const float left = roi[1] * scale - 0.5F, top = roi[2] * scale - 0.5F;
  const float width = roi[3] * scale - 0.5F - left, height = roi[4] * scale - 0.5F - top;
  const float cell_height = height / float(options.height),
              cell_width = width / float(options.width);
  const std::int64_t rows = samples_along(cell_height, options.sampling);
  const std::int64_t columns = samples_along(cell_width, options.sampling);
  const float share = 1.0F / float(std::max<std::int64_t>(rows * columns, 1));

  Plan plan;
  plan.picture = std::int64_t(roi[0]);
  for (std::int64_t cy = 0; cy < options.height; ++cy) {
    for (std::int64_t cx = 0; cx < options.width; ++cx) {
      plan.first.push_back(plan.samples.size());
      for (std::int64_t sy = 0; sy < rows; ++sy) {
        const float y =
            top + float(cy) * cell_height + (float(sy) + 0.5F) * cell_height / float(rows);
        if (y < -1 || y > float(map.height)) continue;
        for (std::int64_t sx = 0; sx < columns; ++sx) {
          const float x =
              left + float(cx) * cell_width + (float(sx) + 0.5F) * cell_width / float(columns);
          add_sample(y, x, map, share, plan.samples);
        }
      }
    }
  }
  plan.first.push_back(plan.samples.size());
  return plan;
}

Map map_of(torch::IntArrayRef sizes) { return {sizes[0], sizes[1], sizes[2], sizes[3]}; }

// `feature` and `out` are channels-last, so that the innermost loop runs over the channels.
void gather(const float* feature, const Map& map, const Tensor& rois,
            const RoiAlignOptions& options, float* out) {
  const float* boxes = rois.const_data_ptr<float>();
  const std::int64_t cells = options.height * options.width, channels = map.channels;
  for_parts(rois.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const Plan plan = plan_box(boxes + 5 * k, map, options);
      const float* picture = feature + plan.picture * map.height * map.width * channels;
      for (std::int64_t cell = 0; cell < cells; ++cell) {
        float* target = out + (k * cells + cell) * channels;
        for (std::size_t s = plan.first[std::size_t(cell)]; s < plan.first[std::size_t(cell) + 1];
             ++s) {
          const auto& [pixel, weight] = plan.samples[s];
          const float *a = picture + pixel[0] * channels, *b = picture + pixel[1] * channels;
          const float *c = picture + pixel[2] * channels, *d = picture + pixel[3] * channels;
          for (std::int64_t i = 0; i < channels; ++i) {
            target[i] += weight[0] * a[i] + weight[1] * b[i] + weight[2] * c[i] + weight[3] * d[i];
          }
        }
      }
    }
  });
}

// The transpose of gather(). Boxes overlap, so threads divide the channels, never the boxes: no
// atomics, and the sum has the same order for any number of threads.
void scatter(const float* grad, const Map& map, const Tensor& rois, const RoiAlignOptions& options,
             float* out) {
  const float* boxes = rois.const_data_ptr<float>();
  const std::int64_t cells = options.height * options.width, channels = map.channels;
  for_parts(channels, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = 0; k < rois.size(0); ++k) {
      const Plan plan = plan_box(boxes + 5 * k, map, options);
      float* picture = out + plan.picture * map.height * map.width * channels;
      for (std::int64_t cell = 0; cell < cells; ++cell) {
        const float* source = grad + (k * cells + cell) * channels;
        for (std::size_t s = plan.first[std::size_t(cell)]; s < plan.first[std::size_t(cell) + 1];
             ++s) {
          const auto& [pixel, weight] = plan.samples[s];
          for (std::size_t corner = 0; corner < 4; ++corner) {
            float* target = picture + pixel[corner] * channels;
            for (std::int64_t i = begin; i < end; ++i) target[i] += weight[corner] * source[i];
          }
        }
      }
    }
  });
}

Tensor zeros_channels_last(torch::IntArrayRef sizes) {
  return torch::empty(sizes, torch::TensorOptions(torch::kFloat), torch::MemoryFormat::ChannelsLast)
      .zero_();
}

struct RoiAlign : torch::autograd::Function<RoiAlign> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& feature,
                        const Tensor& rois, const RoiAlignOptions& options) {
    context->save_for_backward({rois});
    context->saved_data["sizes"] = feature.sizes().vec();
    context->saved_data["cells"] = std::vector<std::int64_t>{options.height, options.width};
    context->saved_data["scale"] = options.scale;
    context->saved_data["sampling"] = options.sampling;
    const auto source = feature.to(torch::kFloat).contiguous(torch::MemoryFormat::ChannelsLast);
    auto out = zeros_channels_last({rois.size(0), feature.size(1), options.height, options.width});
    gather(source.const_data_ptr<float>(), map_of(feature.sizes()), rois, options,
           out.mutable_data_ptr<float>());
    return out.to(feature.scalar_type());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    const auto rois = context->get_saved_variables()[0];
    const auto sizes = context->saved_data["sizes"].toIntVector();
    const auto cells = context->saved_data["cells"].toIntVector();
    const RoiAlignOptions options{cells[0], cells[1], context->saved_data["scale"].toDouble(),
                                  context->saved_data["sampling"].toInt()};
    const auto grad = grads[0].to(torch::kFloat).contiguous(torch::MemoryFormat::ChannelsLast);
    auto out = zeros_channels_last(sizes);
    scatter(grad.const_data_ptr<float>(), map_of(sizes), rois, options,
            out.mutable_data_ptr<float>());
    return {out.to(grads[0].scalar_type()), Tensor(), Tensor()};
  }
};

void check_rois(const Tensor& rois, std::int64_t pictures) {
  if (rois.dim() != 2 || rois.size(1) != 5) {
    throw UsageError("regions have shape {}, but they are [K, 5]: picture index and corners",
                     fmt::join(rois.sizes(), "x"));
  }
  if (rois.size(0) == 0) return;
  if (!rois.isfinite().all().item<bool>()) {
    throw NonFiniteError("a region of interest has a corner that is not a finite number");
  }
  const auto index = rois.select(1, 0);
  if (index.min().item<float>() < 0 || index.max().item<float>() >= float(pictures)) {
    throw UsageError("a region names picture {}, but the batch has {}", index.max().item<float>(),
                     pictures);
  }
}

}  // namespace

Tensor roi_align(const Tensor& feature, const Tensor& rois, const RoiAlignOptions& options) {
  if (feature.dim() != 4 || feature.size(2) < 1 || feature.size(3) < 1) {
    throw UsageError("RoIAlign needs a feature map [B, C, H, W], not {}",
                     fmt::join(feature.sizes(), "x"));
  }
  if (options.height < 1 || options.width < 1 || options.sampling < 0 ||
      options.sampling > kMaxSampling) {
    throw UsageError("RoIAlign cannot make {}x{} cells of {} samples", options.height,
                     options.width, options.sampling);
  }
  const auto boxes = rois.detach().to(torch::kCPU, torch::kFloat).contiguous();
  check_rois(boxes, feature.size(0));
  return RoiAlign::apply(feature.to(torch::kCPU), boxes, options).to(feature.device());
}

}  // namespace addp
