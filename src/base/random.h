// Randomness is a parameter: a stream is derived from (seed, what for, step, index), so that a
// result does not depend on the number of threads, the batch split or a resume.
//
// The generator is Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011): block n of a stream is a pure function of the stream's key and n.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace addp {

// The raw Philox 4x32-10 block function, exposed for its published test vectors.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

class RandomStream {
 public:
  // `purpose` keeps consumers apart ("mask", "augment", ...); step and index place the stream.
  RandomStream(std::uint64_t seed, std::string_view purpose, std::uint64_t step = 0,
               std::uint64_t index = 0);

  // A stream of its own for item `index`, independent of how much this one has been used.
  RandomStream fork(std::string_view purpose, std::uint64_t index = 0) const;

  std::uint32_t next_u32();
  std::uint64_t next_u64();
  double uniform();                                           // [0, 1), 53 bits
  double uniform(double low, double high);                    // [low, high)
  std::int64_t integer(std::int64_t low, std::int64_t high);  // low..high, both included, unbiased
  bool chance(double probability);
  double normal();  // mean 0, deviation 1
  double truncated_normal(double mean, double deviation, double low, double high);
  double gumbel();  // -log(-log(u))
  std::size_t categorical(std::span<const double> weights);

  void fill_uniform(std::span<float> out);  // [0, 1)
  void fill_normal(std::span<float> out);
  void fill_gumbel(std::span<float> out);
  std::vector<std::int64_t> permutation(std::int64_t count);

  bool operator==(const RandomStream& other) const {
    return key_ == other.key_ && position_ == other.position_;
  }

 private:
  RandomStream() = default;
  void make_block();

  std::array<std::uint64_t, 2> key_{};  // Philox's key, and the upper half of its counter
  std::uint64_t position_ = 0;          // 32-bit words given out so far
  // The block that position_ lies in, unless it starts there.
  std::array<std::uint32_t, 4> words_{};
};

}  // namespace addp
