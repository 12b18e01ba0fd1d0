#include "nn/kernel/row_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nn/kernel/simd.h"

namespace addp {
namespace {

using namespace simd;

ADDP_INLINE double cross_entropy_body(const CrossEntropyRow& row, float* gradient, float scale) {
  const std::int64_t whole = row.classes / kLanes * kLanes;
  Floats highest = splat(-std::numeric_limits<float>::infinity()), total{};
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    const Floats x = load<Floats>(row.logits + i);
    highest = x > highest ? x : highest;
    total += x;
  }
  float top = highest[0];
  for (int i = 1; i < kLanes; ++i) top = std::max(top, highest[i]);
  double logit_sum = sum(total);
  for (std::int64_t i = whole; i < row.classes; ++i) {
    top = std::max(top, row.logits[i]);
    logit_sum += row.logits[i];
  }

  Floats powers{};
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    const Floats e = exp_of_negative(load<Floats>(row.logits + i) - top);
    powers += e;
    if (gradient != nullptr) store(gradient + i, e);
  }
  double denominator = sum(powers);
  for (std::int64_t i = whole; i < row.classes; ++i) {
    const float e = std::exp(row.logits[i] - top);
    denominator += e;
    if (gradient != nullptr) gradient[i] = e;
  }

  double hit = 0;
  const std::int64_t q_whole = row.q == nullptr ? 0 : row.codes / kLanes * kLanes;
  if (row.q != nullptr) {
    Floats dot{};
    for (std::int64_t i = 0; i < q_whole; i += kLanes) {
      dot += load<Floats>(row.q + i) * load<Floats>(row.logits + i);
    }
    hit = sum(dot);
    for (std::int64_t i = q_whole; i < row.codes; ++i) hit += double(row.q[i]) * row.logits[i];
    hit *= 1 - row.share;
  }
  if (row.label >= 0) hit += row.share * row.logits[row.label];

  if (gradient != nullptr) {
    const float softmax_scale = static_cast<float>(scale / denominator);
    const float floor = static_cast<float>(scale * row.smoothing / double(row.classes));
    for (std::int64_t i = 0; i < whole; i += kLanes) {
      store(gradient + i, load<Floats>(gradient + i) * softmax_scale - floor);
    }
    for (std::int64_t i = whole; i < row.classes; ++i) {
      gradient[i] = gradient[i] * softmax_scale - floor;
    }
    if (row.q != nullptr) {
      const float q_scale = static_cast<float>(scale * (1 - row.smoothing) * (1 - row.share));
      for (std::int64_t i = 0; i < q_whole; i += kLanes) {
        store(gradient + i, load<Floats>(gradient + i) - load<Floats>(row.q + i) * q_scale);
      }
      for (std::int64_t i = q_whole; i < row.codes; ++i) gradient[i] -= row.q[i] * q_scale;
    }
    if (row.label >= 0) {
      gradient[row.label] -= static_cast<float>(scale * (1 - row.smoothing) * row.share);
    }
  }
  return std::log(denominator) + top - (1 - row.smoothing) * hit -
         row.smoothing * logit_sum / double(row.classes);
}

// MurmurHash3's finaliser over index and key: every input bit reaches every output bit.
template <class Word>
ADDP_INLINE Word mixed(const Word& index, std::uint32_t low, std::uint32_t high) {
  Word x = (index ^ low) * 0x9E3779B1U + high;
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  return x ^ (x >> 16);
}

ADDP_INLINE void dropout_body(const float* in, float* out, std::int64_t first, std::int64_t count,
                              std::uint64_t key, double rate) {
  // Indices beyond 32 bits go into the key.
  const auto threshold = static_cast<std::uint32_t>(std::ldexp(rate, 32));
  const float scale = static_cast<float>(1 / (1 - rate));
  const Words lanes = {0, 1, 2, 3, 4, 5, 6, 7};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const auto index = static_cast<std::uint64_t>(first + i);
    const std::uint32_t high = static_cast<std::uint32_t>(key >> 32) +
                               static_cast<std::uint32_t>(index >> 32) * 0x7F4A7C15U;
    const Words drawn =
        mixed(lanes + static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(key), high);
    store(out + i, drawn >= threshold ? load<Floats>(in + i) * scale : Floats{});
  }
  for (; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(first + i);
    const std::uint32_t high = static_cast<std::uint32_t>(key >> 32) +
                               static_cast<std::uint32_t>(index >> 32) * 0x7F4A7C15U;
    const std::uint32_t drawn =
        mixed(static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(key), high);
    out[i] = drawn >= threshold ? in[i] * scale : 0;
  }
}

ADDP_AVX2 double cross_entropy_avx2(const CrossEntropyRow& row, float* gradient, float scale) {
  return cross_entropy_body(row, gradient, scale);
}

ADDP_AVX2 void dropout_avx2(const float* in, float* out, std::int64_t first, std::int64_t count,
                            std::uint64_t key, double rate) {
  dropout_body(in, out, first, count, key, rate);
}

}  // namespace

double cross_entropy_row(const CrossEntropyRow& row, float* gradient, float scale) {
  return has_avx2() ? cross_entropy_avx2(row, gradient, scale)
                    : cross_entropy_body(row, gradient, scale);
}

void dropout_span(const float* in, float* out, std::int64_t first, std::int64_t count,
                  std::uint64_t key, double rate) {
  if (has_avx2()) return dropout_avx2(in, out, first, count, key, rate);
  dropout_body(in, out, first, count, key, rate);
}

}  // namespace addp
