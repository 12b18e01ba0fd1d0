// The loops of channel_kernels.h. Included by channel_kernels.cpp once for each width of vectors.

// Pixels whose sums may stay in float, and that stay in the first cache while all channels pass.
constexpr std::int64_t kBlock = 64;

// The channels of a vector; the last vector of a row may be shorter.
struct Lanes {
  std::int64_t first, count;

  template <class Element>
  ADDP_INLINE Floats get(const Element* row) const {
    return read(row + first, count);
  }
  template <class Element>
  ADDP_INLINE void set(Element* row, const Floats& v) const {
    write(row + first, v, count);
  }
  ADDP_INLINE void add(double* totals, const Floats& v) const {
    for (std::int64_t i = 0; i < count; ++i) totals[first + i] += v[i];
  }
};

// Calls body(first pixel, end, lanes) for blocks of pixels and, within them, for
// vectors of channels.
template <class Body>
ADDP_INLINE void for_blocks(ChannelSpan span, const Body& body) {
  for (std::int64_t first = 0; first < span.pixels; first += kBlock) {
    const std::int64_t end = std::min(first + kBlock, span.pixels);
    for (std::int64_t c = 0; c < span.channels; c += kLanes) {
      body(first, end, Lanes{c, std::min(kLanes, span.channels - c)});
    }
  }
}

ADDP_INLINE Floats swish_slope(const Floats& y) {
  const Floats s = sigmoid(y);
  return s * (y * (1.0F - s) + 1.0F);
}

template <class Element>
ADDP_INLINE void sums_body(const Element* x, ChannelSpan span, const Element* shift, double* sums,
                           double* squares) {
  for_blocks(
      span, [&](std::int64_t first, std::int64_t end, Lanes lanes) __attribute__((always_inline)) {
        const Floats origin = lanes.get(shift);
        Floats s{}, q{};
        for (std::int64_t p = first; p < end; ++p) {
          const Floats d = lanes.get(x + p * span.channels) - origin;
          s += d;
          q += d * d;
        }
        lanes.add(sums, s);
        lanes.add(squares, q);
      });
}

template <class Element>
ADDP_INLINE void swish_body(const Element* x, Element* out, ChannelSpan span, const float* scale,
                            const float* offset) {
  for_blocks(
      span, [&](std::int64_t first, std::int64_t end, Lanes lanes) __attribute__((always_inline)) {
        const Floats a = lanes.get(scale), b = lanes.get(offset);
        for (std::int64_t p = first; p < end; ++p) {
          const Floats y = a * lanes.get(x + p * span.channels) + b;
          lanes.set(out + p * span.channels, y * sigmoid(y));
        }
      });
}

template <class Element>
ADDP_INLINE void slope_body(const Element* x, const Element* outer, Element* out, ChannelSpan span,
                            const float* scale, const float* offset, const float* mean,
                            double* sums, double* products) {
  for_blocks(
      span, [&](std::int64_t first, std::int64_t end, Lanes lanes) __attribute__((always_inline)) {
        const Floats a = lanes.get(scale), b = lanes.get(offset), m = lanes.get(mean);
        Floats s{}, d{};
        for (std::int64_t p = first; p < end; ++p) {
          const Floats value = lanes.get(x + p * span.channels);
          const Floats dy = lanes.get(outer + p * span.channels) * swish_slope(a * value + b);
          s += dy;
          d += dy * (value - m);
          lanes.set(out + p * span.channels, dy);
        }
        lanes.add(sums, s);
        lanes.add(products, d);
      });
}

template <class Element>
ADDP_INLINE void mix_body(const Element* x, Element* out, ChannelSpan span, const float* scale,
                          const float* slope, const float* level) {
  for_blocks(
      span, [&](std::int64_t first, std::int64_t end, Lanes lanes) __attribute__((always_inline)) {
        const Floats a = lanes.get(scale), k = lanes.get(slope), l = lanes.get(level);
        for (std::int64_t p = first; p < end; ++p) {
          const Floats dy = lanes.get(out + p * span.channels);
          lanes.set(out + p * span.channels, a * dy + k * lanes.get(x + p * span.channels) + l);
        }
      });
}
