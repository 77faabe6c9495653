// Random numbers that are the same on every machine and with every compiler, which std:: distributions are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "support/random_bits.hpp"

namespace convladder {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), using only integers.
class SeededRandom {
 public:
  /// Each pair of numbers has its own sequence: different `stream` numbers give independent sequences for one seed.
  SeededRandom(std::uint64_t seed, std::uint64_t stream) : state_(random_state(seed, stream)) {}

  std::uint64_t next() {
    state_ += kGoldenRatio;
    return mix_bits(state_);
  }

  /// A number in low..high, both included; the range is below 2^32. Bias is below 2^-32 per value of the range.
  int between(int low, int high) {
    return bits_between(next(), low, static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low + 1));
  }

  /// True with a probability of `percent` in 100.
  bool chance(int percent) { return between(1, 100) <= percent; }

 private:
  std::uint64_t state_;
};

/// Shuffles values so that every order is equally likely (Fisher and Yates); at most 2^31 values.
template <typename T>
void shuffle(std::vector<T>& values, SeededRandom& random) {
  for (std::size_t last = values.size(); last-- > 1;) {
    std::swap(values[last], values[static_cast<std::size_t>(random.between(0, static_cast<int>(last)))]);
  }
}

/// A hash of text that is the same on every machine and with every library, unlike std::hash, so that seeds can be made
/// of names: FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923). For random numbers, not for protection against attacks.
constexpr std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char one : text) hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3;
  return hash;
}

}  // namespace convladder
