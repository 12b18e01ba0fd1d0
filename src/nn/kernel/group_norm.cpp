#include "nn/kernel/group_norm.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <vector>

#include "machine/precision.h"
#include "nn/kernel/channel_kernels.h"
#include "nn/torch.h"

namespace addp {
namespace {

// Pixels of a piece of work. Partial sums are added in the order of the pieces, so that the result
// does not depend on the number of threads.
constexpr std::int64_t kPiece = 2048;

struct Shape {
  std::int64_t batch, channels, pixels, groups;

  std::int64_t pieces() const { return (pixels + kPiece - 1) / kPiece; }
  std::int64_t group_size() const { return channels / groups; }
  std::int64_t group_of(std::int64_t channel) const { return channel / group_size(); }
};

Shape shape_of(const Tensor& x, std::int64_t groups) {
  return {x.size(0), x.size(1), x.size(2) * x.size(3), groups};
}

// Runs work(picture, first element, span) for all pieces of all pictures, in parallel.
template <class Work>
void for_pieces(const Shape& shape, const Work& work) {
  at::parallel_for(0, shape.batch * shape.pieces(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t picture = i / shape.pieces(), first = i % shape.pieces() * kPiece;
      const ChannelSpan span{std::min(kPiece, shape.pixels - first), shape.channels};
      work(picture, i, (picture * shape.pixels + first) * shape.channels, span);
    }
  });
}

// Two sums per channel: [B, 2, C], from what `add(picture, first element, span, sums,
// others)` adds up.
template <class Add>
std::vector<double> piecewise_sums(const Shape& shape, const Add& add) {
  const std::int64_t width = 2 * shape.channels;
  std::vector<double> parts(static_cast<std::size_t>(shape.batch * shape.pieces() * width));
  for_pieces(shape,
             [&](std::int64_t picture, std::int64_t piece, std::int64_t at, ChannelSpan span) {
               double* own = parts.data() + piece * width;
               add(picture, at, span, own, own + shape.channels);
             });
  std::vector<double> totals(static_cast<std::size_t>(shape.batch * width));
  for (std::int64_t piece = 0; piece < shape.batch * shape.pieces(); ++piece) {
    double* own = totals.data() + piece / shape.pieces() * width;
    for (std::int64_t c = 0; c < width; ++c)
      own[c] += parts[static_cast<std::size_t>(piece * width + c)];
  }
  return totals;
}

// Per picture and channel: the mean and inverse deviation of its group.
struct Statistics {
  std::vector<float> mean, inverse;  // [B, C]
};

Statistics statistics_of(const float* x, const Shape& shape, double eps) {
  const std::int64_t stride = shape.pixels * shape.channels;
  // The first pixel of a picture serves as the shift.
  const auto totals = piecewise_sums(shape, [&](std::int64_t picture, std::int64_t at,
                                                ChannelSpan span, double* sums, double* squares) {
    channel_sums(x + at, span, x + picture * stride, sums, squares);
  });
  Statistics found;
  const double count = static_cast<double>(shape.pixels * shape.group_size());
  for (std::int64_t picture = 0; picture < shape.batch; ++picture) {
    const double* sums = totals.data() + picture * 2 * shape.channels;
    const float* shift = x + picture * stride;
    for (std::int64_t first = 0; first < shape.channels; first += shape.group_size()) {
      double sum = 0, square = 0;
      for (std::int64_t c = first; c < first + shape.group_size(); ++c) {
        const double k = shift[c], n = static_cast<double>(shape.pixels);
        sum += sums[c] + n * k;
        square += sums[shape.channels + c] + 2 * k * sums[c] + n * k * k;
      }
      const double mean = sum / count, variance = std::max(0.0, square / count - mean * mean);
      const auto size = static_cast<std::size_t>(shape.group_size());
      found.mean.insert(found.mean.end(), size, static_cast<float>(mean));
      found.inverse.insert(found.inverse.end(), size,
                           static_cast<float>(1 / std::sqrt(variance + eps)));
    }
  }
  return found;
}

// The norm as y = scale x + offset, per picture and channel.
struct Affine {
  std::vector<float> scale, offset;  // [B, C]

  Affine(const Shape& shape, const Statistics& s, const float* weight, const float* bias)
      : scale(s.mean.size()), offset(s.mean.size()) {
    for (std::size_t i = 0; i < scale.size(); ++i) {
      const std::size_t c = i % static_cast<std::size_t>(shape.channels);
      scale[i] = weight[c] * s.inverse[i];
      offset[i] = bias[c] - s.mean[i] * scale[i];
    }
  }
};

Tensor as_tensor(const std::vector<float>& values) {
  return torch::tensor(at::ArrayRef<float>(values));
}

std::vector<float> as_vector(const Tensor& tensor) {
  const float* data = tensor.const_data_ptr<float>();
  return {data, data + tensor.numel()};
}

struct Gradients {
  Tensor x, weight, bias;
};

// With g = weight dy and the hat for the normalised x:
//   dx = inverse (g - mean(g) - hat mean(g hat)),   means over the group.
Gradients gradients_of(const Tensor& x, const Tensor& outer, const Tensor& weight,
                       const Tensor& bias, const Shape& shape, const Statistics& s) {
  const float *in = x.const_data_ptr<float>(), *dz = outer.const_data_ptr<float>();
  const float* gamma = weight.const_data_ptr<float>();
  const Affine affine(shape, s, gamma, bias.const_data_ptr<float>());
  const auto totals = piecewise_sums(shape, [&](std::int64_t picture, std::int64_t at,
                                                ChannelSpan span, double* sums, double* products) {
    const std::int64_t row = picture * shape.channels;
    channel_swish_sums(in + at, dz + at, span, affine.scale.data() + row,
                       affine.offset.data() + row, s.mean.data() + row, sums, products);
  });
  Gradients result{torch::empty_like(x), torch::zeros_like(weight), torch::zeros_like(bias)};
  float *d_weight = result.weight.data_ptr<float>(), *d_bias = result.bias.data_ptr<float>();
  std::vector<float> slope(s.mean.size()), level(s.mean.size());
  const double count = static_cast<double>(shape.pixels * shape.group_size());
  for (std::int64_t picture = 0; picture < shape.batch; ++picture) {
    const double* sums = totals.data() + picture * 2 * shape.channels;
    const double* products = sums + shape.channels;
    for (std::int64_t first = 0; first < shape.channels; first += shape.group_size()) {
      const auto at = static_cast<std::size_t>(picture * shape.channels + first);
      const double inverse = s.inverse[at], mean = s.mean[at];
      double g = 0, g_hat = 0;
      for (std::int64_t c = first; c < first + shape.group_size(); ++c) {
        g += gamma[c] * sums[c] / count;
        g_hat += gamma[c] * products[c] * inverse / count;
        d_weight[c] += static_cast<float>(products[c] * inverse);
        d_bias[c] += static_cast<float>(sums[c]);
      }
      const auto size = static_cast<std::size_t>(shape.group_size());
      std::fill_n(slope.begin() + static_cast<long>(at), size,
                  static_cast<float>(-inverse * inverse * g_hat));
      std::fill_n(level.begin() + static_cast<long>(at), size,
                  static_cast<float>(mean * inverse * inverse * g_hat - inverse * g));
    }
  }
  float* out = result.x.data_ptr<float>();
  for_pieces(shape, [&](std::int64_t picture, std::int64_t, std::int64_t at, ChannelSpan span) {
    const std::int64_t row = picture * shape.channels;
    channel_swish_gradient(in + at, dz + at, out + at, span, affine.scale.data() + row,
                           affine.offset.data() + row, slope.data() + row, level.data() + row);
  });
  return result;
}

Tensor normalise(const Tensor& x, const Tensor& weight, const Tensor& bias, const Shape& shape,
                 const Statistics& s) {
  const Affine affine(shape, s, weight.const_data_ptr<float>(), bias.const_data_ptr<float>());
  const Tensor out = torch::empty_like(x);
  const float* in = x.const_data_ptr<float>();
  float* to = out.data_ptr<float>();
  for_pieces(shape, [&](std::int64_t picture, std::int64_t, std::int64_t at, ChannelSpan span) {
    const std::int64_t row = picture * shape.channels;
    channel_swish(in + at, to + at, span, affine.scale.data() + row, affine.offset.data() + row);
  });
  return out;
}

class FusedGroupNormSwish : public torch::autograd::Function<FusedGroupNormSwish> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x,
                        std::int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
    const Shape shape = shape_of(x, groups);
    const Statistics s = statistics_of(x.const_data_ptr<float>(), shape, eps);
    if (x.requires_grad() || weight.requires_grad()) {
      context->save_for_backward({x, weight, bias, as_tensor(s.mean), as_tensor(s.inverse)});
      context->saved_data["groups"] = groups;
    }
    return normalise(x, weight, bias, shape, s);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list outer) {
    const auto saved = context->get_saved_variables();
    const Statistics s{as_vector(saved[3]), as_vector(saved[4])};
    const Tensor dz = outer[0].contiguous(at::MemoryFormat::ChannelsLast);
    const Gradients g = gradients_of(saved[0], dz, saved[1], saved[2],
                                     shape_of(saved[0], context->saved_data["groups"].toInt()), s);
    return {g.x, Tensor(), g.weight, g.bias, Tensor()};
  }
};

}  // namespace

Tensor group_norm_swish(const Tensor& x, std::int64_t groups, const Tensor& weight,
                        const Tensor& bias, double eps) {
  const bool fused = x.is_cpu() && x.scalar_type() == torch::kFloat32 &&
                     weight.scalar_type() == torch::kFloat32 && !reference_arithmetic();
  if (!fused) {
    // In row-major order torch's own sums are accurate.
    return at::silu(at::group_norm(x.contiguous(), groups, weight, bias, eps))
        .contiguous(at::MemoryFormat::ChannelsLast);
  }
  return FusedGroupNormSwish::apply(x.contiguous(at::MemoryFormat::ChannelsLast), groups, weight,
                                    bias, eps);
}

}  // namespace addp
