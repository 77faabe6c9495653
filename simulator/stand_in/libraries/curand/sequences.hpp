// The generators' recurrences, each from its paper. Constants that make seeds the same as cuRAND's are those that its
// public device header, curand_kernel.h, states.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include "simulator/stand_in/libraries/curand/distributions.hpp"
#include "simulator/stand_in/libraries/curand/generator.hpp"

namespace convladder::stand_in::curand {

/// Marsaglia, "Xorshift RNGs", 2003. The sequences of threads are 2^67 words apart.
class Xorwow {
 public:
  static constexpr unsigned kAtOnce = 1;
  static constexpr unsigned kWordsOfDouble = 2;
  static constexpr bool kIsPaired = true;
  static constexpr unsigned kThreads = 4096;

  /// `rows` words of every thread, and one more of the first `extra`, are left out.
  Xorwow(std::uint64_t seed, std::uint64_t rows, unsigned extra);
  static unsigned threads() { return kThreads; }
  std::uint32_t draw(unsigned thread) { return states_[thread].next(); }
  static std::uint32_t word(std::uint32_t value) { return value; }
  static float real(std::uint32_t value) { return uniform_float(value); }
  static float angle(std::uint32_t value) { return uniform_angle(value); }
  static double doubled(std::uint32_t low, std::uint32_t high) { return uniform_double(low, high); }

 private:
  struct State {
    std::array<std::uint32_t, 5> x;
    std::uint32_t counter;
    std::uint32_t next() {
      const std::uint32_t t = x[0] ^ (x[0] >> 2);
      x = {x[1], x[2], x[3], x[4], (x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1))};
      counter += 362437;
      return x[4] + counter;
    }
  };
  std::vector<State> states_;
};

/// L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators", 1999. The
/// sequences of threads are 2^76 numbers apart.
class Mrg32k3a {
 public:
  static constexpr unsigned kAtOnce = 1;
  static constexpr unsigned kWordsOfDouble = 1;
  static constexpr bool kIsPaired = true;

  Mrg32k3a(unsigned threads, std::uint64_t seed, std::uint64_t rows, unsigned extra);
  unsigned threads() const { return static_cast<unsigned>(states_.size()); }
  /// From 1 to 2^32 - 209.
  std::uint32_t draw(unsigned thread);
  static std::uint32_t word(std::uint32_t value) { return static_cast<std::uint32_t>(value * 1.000000048662); }
  static float real(std::uint32_t value) { return static_cast<float>(doubled(value)); }
  static float angle(std::uint32_t value) { return real(value) * (2 * std::numbers::pi_v<float>); }
  static double doubled(std::uint32_t value) { return value * 2.3283065498378288e-10; }

  using Vector = std::array<std::uint64_t, 3>;

 private:
  struct State {
    Vector first;
    Vector second;
  };
  std::vector<State> states_;
};

/// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. A thread's number is the upper half of its
/// counter.
class Philox {
 public:
  static constexpr unsigned kAtOnce = 4;
  static constexpr unsigned kWordsOfDouble = 2;
  static constexpr bool kIsPaired = true;
  static constexpr unsigned kThreads = 65536;

  Philox(std::uint64_t seed, std::uint64_t rows, unsigned extra);
  static unsigned threads() { return kThreads; }
  std::uint32_t draw(unsigned thread) {
    State& state = states_[thread];
    if (state.used == 4) {
      state.words = block(
          seed_, {static_cast<std::uint32_t>(state.next), static_cast<std::uint32_t>(state.next >> 32), thread, 0});
      ++state.next;
      state.used = 0;
    }
    return state.words[state.used++];
  }
  static std::uint32_t word(std::uint32_t value) { return value; }
  static float real(std::uint32_t value) { return uniform_float(value); }
  static float angle(std::uint32_t value) { return uniform_angle(value); }
  static double doubled(std::uint32_t low, std::uint32_t high) { return uniform_double(low, high); }

  /// The four words of a counter.
  static std::array<std::uint32_t, 4> block(std::uint64_t key, std::array<std::uint32_t, 4> counter);

 private:
  struct State {
    std::uint64_t next = 0;
    std::array<std::uint32_t, 4> words{};
    unsigned used = 4;
  };
  std::uint64_t seed_;
  std::vector<State> states_;
};

/// Saito and Matsumoto, "Variants of Mersenne Twister suitable for graphic processors", 2010, with their parameters for
/// the period 2^11213 - 1: `twisters` of them, which write 256 words in turn. Throws NotOffered where the toolkit has
/// no such parameters.
std::unique_ptr<Generator> make_mtgp32(unsigned twisters, std::uint64_t seed);

/// Matsumoto and Nishimura, "Mersenne Twister", 1998: 8192 twisters, 2^2048 words apart, of 8 threads each.
std::unique_ptr<Generator> make_mt19937(std::uint64_t seed);

/// Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections", 2008, in Gray code's order: all
/// numbers of the first dimension stand first. Throws NotOffered for more than 21 dimensions.
std::unique_ptr<Generator> make_sobol(unsigned bits, unsigned dimensions, std::uint64_t offset);

}  // namespace convladder::stand_in::curand
