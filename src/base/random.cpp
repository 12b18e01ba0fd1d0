#include "base/random.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace addp {
namespace {

// SplitMix64's finaliser: a bijection of 64 bits in which every input bit reaches every output bit.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t absorb(std::uint64_t state, std::uint64_t value) { return mix(state ^ mix(value)); }

std::uint64_t absorb(std::uint64_t state, std::string_view text) {
  state = absorb(state, text.size());
  for (const char c : text) state = absorb(state, static_cast<unsigned char>(c));
  return state;
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view purpose, std::uint64_t step,
                           std::uint64_t index) {
  const std::uint64_t root = absorb(absorb(absorb(mix(seed), purpose), step), index);
  key_ = {root, mix(~root)};
}

RandomStream RandomStream::fork(std::string_view purpose, std::uint64_t index) const {
  RandomStream child;
  const std::uint64_t root = absorb(absorb(absorb(key_[0], key_[1]), purpose), index);
  child.key_ = {root, mix(~root)};
  return child;
}

void RandomStream::make_block() {
  const std::uint64_t block = position_ / 4;
  words_ =
      philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                  static_cast<std::uint32_t>(key_[1]), static_cast<std::uint32_t>(key_[1] >> 32)},
                 {static_cast<std::uint32_t>(key_[0]), static_cast<std::uint32_t>(key_[0] >> 32)});
}

std::uint32_t RandomStream::next_u32() {
  if (position_ % 4 == 0) make_block();
  return words_[position_++ % 4];
}

std::uint64_t RandomStream::next_u64() {
  const std::uint64_t low = next_u32();
  return low | (std::uint64_t{next_u32()} << 32);
}

double RandomStream::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

double RandomStream::uniform(double low, double high) { return low + (high - low) * uniform(); }

std::int64_t RandomStream::integer(std::int64_t low, std::int64_t high) {
  const std::uint64_t range =
      static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (range == 0) return static_cast<std::int64_t>(next_u64());
  const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % range + 1) % range;
  std::uint64_t value = next_u64();
  while (value > limit) value = next_u64();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + value % range);
}

bool RandomStream::chance(double probability) { return uniform() < probability; }

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

double RandomStream::truncated_normal(double mean, double deviation, double low, double high) {
  // Rejection is exact; the intervals used here (MAGE's [0.5, 1], initial weights' two deviations)
  // accept more than a third of the draws.
  for (;;) {
    const double value = mean + deviation * normal();
    if (value >= low && value <= high) return value;
  }
}

double RandomStream::gumbel() {
  const double u = (static_cast<double>(next_u64() >> 11) + 0.5) * 0x1.0p-53;
  return -std::log(-std::log(u));
}

std::size_t RandomStream::categorical(std::span<const double> weights) {
  double rest = uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    rest -= weights[i];
    if (rest < 0) return i;
  }
  return weights.size() - 1;
}

void RandomStream::fill_uniform(std::span<float> out) {
  for (float& value : out) value = static_cast<float>(next_u32() >> 8) * 0x1.0p-24F;
}

void RandomStream::fill_normal(std::span<float> out) {
  for (float& value : out) value = static_cast<float>(normal());
}

void RandomStream::fill_gumbel(std::span<float> out) {
  for (float& value : out) value = static_cast<float>(gumbel());
}

std::vector<std::int64_t> RandomStream::permutation(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::int64_t i = count - 1; i > 0; --i) {
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(integer(0, i))]);
  }
  return order;
}

}  // namespace addp
