#include "nn/kernel/group_norm.h"

#include <ATen/record_function.h>

#include <cmath>
#include <vector>

#include "machine/parallel.h"
#include "machine/precision.h"
#include "nn/kernel/elements.h"
#include "nn/kernel/simd/channel_kernels.h"
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
  double group_count() const { return static_cast<double>(pixels * group_size()); }
};

Shape shape_of(const Tensor& x, std::int64_t groups) {
  return {x.size(0), x.size(1), x.size(2) * x.size(3), groups};
}

// Runs work(picture) for all of them: a thread each where there are enough, because what one pass
// over a picture reads is then still in the cache for the next; else one picture after the other,
// and for_pieces() divides it.
template <class Work>
void for_pictures(const Shape& shape, const Work& work) {
  if (shape.batch < at::get_num_threads()) {
    for (std::int64_t picture = 0; picture < shape.batch; ++picture) work(picture);
    return;
  }
  for_parts(shape.batch, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t picture = begin; picture < end; ++picture) work(picture);
  });
}

// Runs work(piece, first element, span) for all pieces of a picture.
template <class Work>
void for_pieces(const Shape& shape, const Work& work) {
  for_parts(shape.pieces(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t first = piece * kPiece;
      const ChannelSpan span{std::min(kPiece, shape.pixels - first), shape.channels};
      work(piece, first * shape.channels, span);
    }
  });
}

// Two sums per channel of a picture, [2, C], from what add(first element, span, sums, others) adds
// up.
template <class Add>
std::vector<double> piecewise_sums(const Shape& shape, const Add& add) {
  const auto width = static_cast<std::size_t>(2 * shape.channels);
  const auto pieces = static_cast<std::size_t>(shape.pieces());
  std::vector<double> parts(pieces * width);
  for_pieces(shape, [&](std::int64_t piece, std::int64_t at, ChannelSpan span) {
    double* own = parts.data() + static_cast<std::size_t>(piece) * width;
    add(at, span, own, own + shape.channels);
  });
  for (std::size_t piece = 1; piece < pieces; ++piece) {
    for (std::size_t c = 0; c < width; ++c) parts[c] += parts[piece * width + c];
  }
  parts.resize(width);
  return parts;
}

// Per channel of a picture: the mean and inverse deviation of its group.
struct Statistics {
  float *mean, *inverse;  // [C] each
};

template <class Element>
void find_statistics(const Element* x, const Shape& shape, double eps, const Statistics& found) {
  // The first pixel serves as the shift.
  const auto sums = piecewise_sums(
      shape, [&](std::int64_t at, ChannelSpan span, double* totals, double* squares) {
        channel_sums(x + at, span, x, totals, squares);
      });
  const auto n = static_cast<double>(shape.pixels);
  for (std::int64_t first = 0; first < shape.channels; first += shape.group_size()) {
    double sum = 0, square = 0;
    for (std::int64_t c = first; c < first + shape.group_size(); ++c) {
      const double k = value_of(x[c]), total = sums[static_cast<std::size_t>(c)];
      sum += total + n * k;
      square += sums[static_cast<std::size_t>(shape.channels + c)] + 2 * k * total + n * k * k;
    }
    const double mean = sum / shape.group_count();
    const double variance = std::max(0.0, square / shape.group_count() - mean * mean);
    std::fill_n(found.mean + first, shape.group_size(), static_cast<float>(mean));
    std::fill_n(found.inverse + first, shape.group_size(),
                static_cast<float>(1 / std::sqrt(variance + eps)));
  }
}

// The norm of a picture as y = scale x + offset, per channel.
struct Affine {
  std::vector<float> scale, offset;

  Affine(const Shape& shape, const Statistics& s, const float* weight, const float* bias)
      : scale(static_cast<std::size_t>(shape.channels)), offset(scale.size()) {
    for (std::size_t c = 0; c < scale.size(); ++c) {
      scale[c] = weight[c] * s.inverse[c];
      offset[c] = bias[c] - s.mean[c] * scale[c];
    }
  }
};

// A picture's part of the backward pass. With g = weight dy and the hat for the normalised x:
//   dx = inverse (g - mean(g) - hat mean(g hat)),   means over the group.
// d_weight and d_bias [C] become this picture's shares.
template <class Element>
void picture_gradient(const Element* x, const Element* outer, Element* out, const Shape& shape,
                      const Statistics& s, const float* gamma, const float* beta, double* d_weight,
                      double* d_bias) {
  const Affine affine(shape, s, gamma, beta);
  const auto totals =
      piecewise_sums(shape, [&](std::int64_t at, ChannelSpan span, double* sums, double* products) {
        channel_swish_slope(x + at, outer + at, out + at, span, affine.scale.data(),
                            affine.offset.data(), s.mean, sums, products);
      });
  const double *sums = totals.data(), *products = sums + shape.channels;
  std::vector<float> slope(affine.scale.size()), level(affine.scale.size());
  for (std::int64_t first = 0; first < shape.channels; first += shape.group_size()) {
    const double inverse = s.inverse[first], mean = s.mean[first];
    double g = 0, g_hat = 0;
    for (std::int64_t c = first; c < first + shape.group_size(); ++c) {
      g += gamma[c] * sums[c] / shape.group_count();
      g_hat += gamma[c] * products[c] * inverse / shape.group_count();
      d_weight[c] = products[c] * inverse;
      d_bias[c] = sums[c];
    }
    std::fill_n(slope.begin() + first, shape.group_size(),
                static_cast<float>(-inverse * inverse * g_hat));
    std::fill_n(level.begin() + first, shape.group_size(),
                static_cast<float>(mean * inverse * inverse * g_hat - inverse * g));
  }
  for_pieces(shape, [&](std::int64_t, std::int64_t at, ChannelSpan span) {
    channel_mix(x + at, out + at, span, affine.scale.data(), slope.data(), level.data());
  });
}

Statistics row_of(const Tensor& mean, const Tensor& inverse, std::int64_t picture) {
  const std::int64_t at = picture * mean.size(1);
  return {mean.data_ptr<float>() + at, inverse.data_ptr<float>() + at};
}

// What the forward pass gives: `out`, and per picture and channel [B, C] what the backward pass
// needs.
struct Normalised {
  Tensor out, mean, inverse;
};

Normalised normalise(const Tensor& x, const Tensor& weight, const Tensor& bias, const Shape& shape,
                     double eps) {
  const Normalised result{torch::empty_like(x), torch::empty({shape.batch, shape.channels}),
                          torch::empty({shape.batch, shape.channels})};
  RECORD_FUNCTION("addp::group norm, swish", std::vector<c10::IValue>({x, result.out}));
  const float *gamma = weight.const_data_ptr<float>(), *beta = bias.const_data_ptr<float>();
  with_elements(x, [&](auto element) {
    using Element = decltype(element);
    for_pictures(shape, [&](std::int64_t picture) {
      const std::int64_t start = picture * shape.pixels * shape.channels;
      const Element* in = elements<Element>(x) + start;
      Element* out = elements<Element>(result.out) + start;
      const Statistics s = row_of(result.mean, result.inverse, picture);
      find_statistics(in, shape, eps, s);
      const Affine affine(shape, s, gamma, beta);
      for_pieces(shape, [&](std::int64_t, std::int64_t at, ChannelSpan span) {
        channel_swish(in + at, out + at, span, affine.scale.data(), affine.offset.data());
      });
    });
  });
  return result;
}

struct Gradients {
  Tensor x, weight, bias;
};

Gradients gradients_of(const Tensor& x, const Tensor& outer, const Tensor& weight,
                       const Tensor& bias, const Tensor& mean, const Tensor& inverse,
                       const Shape& shape) {
  const Tensor dx = torch::empty_like(x);
  RECORD_FUNCTION("addp::group norm, swish backward", std::vector<c10::IValue>({x, outer, dx}));
  const Tensor parts = torch::empty({2, shape.batch, shape.channels}, torch::kFloat64);
  const float *gamma = weight.const_data_ptr<float>(), *beta = bias.const_data_ptr<float>();
  with_elements(x, [&](auto element) {
    using Element = decltype(element);
    for_pictures(shape, [&](std::int64_t picture) {
      const std::int64_t start = picture * shape.pixels * shape.channels;
      double* d_weight = parts.data_ptr<double>() + picture * shape.channels;
      picture_gradient(elements<Element>(x) + start, elements<Element>(outer) + start,
                       elements<Element>(dx) + start, shape, row_of(mean, inverse, picture), gamma,
                       beta, d_weight, d_weight + shape.batch * shape.channels);
    });
  });
  const Tensor sums = parts.sum(1).to(torch::kFloat32);
  return {dx, sums[0], sums[1]};
}

class FusedGroupNormSwish : public torch::autograd::Function<FusedGroupNormSwish> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x,
                        std::int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
    const Normalised done = normalise(x, weight, bias, shape_of(x, groups), eps);
    if (x.requires_grad() || weight.requires_grad()) {
      context->save_for_backward({x, weight, bias, done.mean, done.inverse});
      context->saved_data["groups"] = groups;
    }
    return done.out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list outer) {
    const auto saved = context->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor dz = outer[0].to(x.scalar_type()).contiguous(at::MemoryFormat::ChannelsLast);
    const Gradients g = gradients_of(x, dz, saved[1], saved[2], saved[3], saved[4],
                                     shape_of(x, context->saved_data["groups"].toInt()));
    return {g.x, Tensor(), g.weight, g.bias, Tensor()};
  }
};

}  // namespace

Tensor group_norm_swish(const Tensor& x, std::int64_t groups, const Tensor& weight,
                        const Tensor& bias, double eps) {
  const bool fused = x.is_cpu() && has_known_elements(x) &&
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
