// Vectors of ADDP_LANES floats, for the kernels of this folder: in memory they may be bfloat16.
// Included by simd.h once for each width, in a namespace of its own.

inline constexpr std::int64_t kLanes = ADDP_LANES;
typedef float Floats __attribute__((vector_size(4 * ADDP_LANES)));
typedef std::int32_t Ints __attribute__((vector_size(4 * ADDP_LANES)));
typedef std::uint32_t Words __attribute__((vector_size(4 * ADDP_LANES)));
typedef std::uint16_t Halves __attribute__((vector_size(2 * ADDP_LANES)));

ADDP_INLINE Floats splat(float value) { return Floats{} + value; }

template <class Vector, class Element>
ADDP_INLINE Vector load(const Element* from) {
  Vector v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

template <class Vector, class Element>
ADDP_INLINE void store(Element* to, const Vector& v) {
  std::memcpy(to, &v, sizeof(v));
}

// Floats from and to an array of floats or of bfloat16, the upper halves of floats, which are
// rounded to the nearest, ties to even. What is not a number stays so.
ADDP_INLINE Floats read(const float* from) { return load<Floats>(from); }
ADDP_INLINE void write(float* to, const Floats& v) { store(to, v); }

ADDP_INLINE Floats read(const Bf16* from) {
  const Words words = __builtin_convertvector(load<Halves>(from), Words) << 16;
  return load<Floats>(&words);
}
ADDP_INLINE void write(Bf16* to, const Floats& v) {
  const Words words = load<Words>(&v);
  const Words rounded = (words + 0x7FFFU + ((words >> 16) & 1U)) >> 16;
  const Words number = v == v ? rounded : Words{} + 0x7FC0U;
  store(to, __builtin_convertvector(number, Halves));
}

// One element.
ADDP_INLINE void put(float* to, float value) { store(to, value); }
ADDP_INLINE void put(Bf16* to, float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  store(to, static_cast<std::uint16_t>(value == value ? rounded : 0x7FC0U));
}

// The first `count` of a vector; the others are read as 0 and not written. Half a vector is as fast
// as a whole one, others are not.
template <class Element>
ADDP_INLINE Floats read(const Element* from, std::int64_t count) {
  if (count >= kLanes) return read(from);
  if constexpr (std::is_same_v<Element, float>) {
    if (2 * count == kLanes) {
      Floats half{};
      std::memcpy(&half, from, sizeof(half) / 2);
      return half;
    }
  }
  Floats v{};
  for (std::int64_t i = 0; i < count; ++i) v[i] = value_of(from[i]);
  return v;
}
template <class Element>
ADDP_INLINE void write(Element* to, const Floats& v, std::int64_t count) {
  if (count >= kLanes) return write(to, v);
  if constexpr (std::is_same_v<Element, float>) {
    if (2 * count == kLanes) {
      std::memcpy(to, &v, sizeof(v) / 2);
      return;
    }
  }
  for (std::int64_t i = 0; i < count; ++i) put(to + i, v[i]);
}

// The lanes from `count` on become `filling`.
ADDP_INLINE Floats filled(const Floats& v, std::int64_t count, float filling) {
  const Ints ends = Ints{} + static_cast<std::int32_t>(count < kLanes ? count : kLanes);
  return load<Ints>(kOrder) < ends ? v : splat(filling);
}

// Calls body(i, count) for the vectors of a row; the last may be shorter.
template <class Body>
ADDP_INLINE void for_vectors(std::int64_t width, const Body& body) {
  std::int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) body(i, kLanes);
  if (i < width) body(i, width - i);
}

// Lanes whose numbers differ by Step change places.
template <std::size_t Step, std::size_t... Lane>
ADDP_INLINE Floats crossed(const Floats& v, std::index_sequence<Lane...>) {
  return __builtin_shufflevector(v, v, static_cast<int>(Lane ^ Step)...);
}

// join(join(v0, v1), ..) of all lanes, by halves.
template <std::size_t Step = kLanes / 2, class Join>
ADDP_INLINE float joined(const Floats& v, const Join& join) {
  const Floats both = join(v, crossed<Step>(v, std::make_index_sequence<kLanes>()));
  if constexpr (Step > 1) {
    return joined<Step / 2>(both, join);
  } else {
    return both[0];
  }
}

// Objects, not functions: a pointer to a function would not be inlined everywhere.
struct Larger {
  ADDP_INLINE Floats operator()(const Floats& a, const Floats& b) const { return a > b ? a : b; }
};
struct Added {
  ADDP_INLINE Floats operator()(const Floats& a, const Floats& b) const { return a + b; }
};

ADDP_INLINE double sum(const Floats& v) { return joined(v, Added()); }

// exp for x <= 0: 2^n times a polynomial of the remainder (coefficients of Cephes' expf),
// within 2 ulp.
ADDP_INLINE Floats exp_of_negative(const Floats& from) {
  const Floats x = from < splat(-87.0F) ? splat(-87.0F) : from;
  const Floats scaled = x * 1.44269504088896341F - 0.5F;
  const Ints n = __builtin_convertvector(scaled, Ints);  // truncation rounds to nearest, as x <= 0
  const Floats whole = __builtin_convertvector(n, Floats);
  const Floats r = x - whole * 0.693359375F - whole * -2.12194440e-4F;
  Floats p = splat(1.9875691500e-4F);
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const Ints power = (n + 127) << 23;
  return p * load<Floats>(&power);
}

// The standard normal distribution at x, and its density without 1 / sqrt(2 pi): erf as a
// polynomial times the exponential that the density needs anyway (Abramowitz & Stegun 7.1.26,
// within 1.5e-7).
struct Normal {
  Floats cumulative, power;
};
ADDP_INLINE Normal normal_at(const Floats& x) {
  const Floats z = (x < 0.0F ? -x : x) * 0.70710678118654752F;
  const Floats power = exp_of_negative(-z * z);
  const Floats t = 1.0F / (z * 0.3275911F + 1.0F);
  Floats p = splat(1.061405429F);
  p = p * t - 1.453152027F;
  p = p * t + 1.421413741F;
  p = p * t - 0.284496736F;
  p = p * t + 0.254829592F;
  const Floats tail = p * t * power * 0.5F;  // beyond |x|
  return {x < 0.0F ? tail : 1.0F - tail, power};
}

ADDP_INLINE Floats sigmoid(const Floats& x) {
  const Floats e = exp_of_negative(x < 0.0F ? x : -x);
  return (x < 0.0F ? e : splat(1.0F)) / (e + 1.0F);
}

// Scales what is kept of the elements from `element` on, and zeroes the others.
class Keeper {
 public:
  ADDP_INLINE explicit Keeper(const Dropping& dropping)
      : low_(static_cast<std::uint32_t>(dropping.key)),
        high_(static_cast<std::uint32_t>(dropping.key >> 32)),
        threshold_(static_cast<std::uint32_t>(std::ldexp(dropping.rate, 32))),
        scale_(static_cast<float>(1 / (1 - dropping.rate))),
        position_(dropping.position) {}

  ADDP_INLINE Floats keep(const Floats& v, std::int64_t element) const {
    const std::int64_t index = position_ + element;
    const Words drawn =
        mixed(load<Words>(kOrder) + static_cast<std::uint32_t>(index), low_, high_word(index));
    return drawn >= threshold_ ? v * scale_ : Floats{};
  }
  ADDP_INLINE float keep(float v, std::int64_t element) const {
    const std::int64_t index = position_ + element;
    const std::uint32_t drawn = mixed(static_cast<std::uint32_t>(index), low_, high_word(index));
    return drawn >= threshold_ ? v * scale_ : 0;
  }

 private:
  // Indices beyond 32 bits go into the key.
  ADDP_INLINE std::uint32_t high_word(std::int64_t index) const {
    return high_ +
           static_cast<std::uint32_t>(static_cast<std::uint64_t>(index) >> 32) * 0x7F4A7C15U;
  }

  std::uint32_t low_, high_, threshold_;
  float scale_;
  std::int64_t position_;
};
