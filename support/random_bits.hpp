// The numbers of SeededRandom, each computed independently: for taking one from the middle, also on a GPU.
#pragma once

#include <cstdint>

/// For functions that are compiled for the host and, by nvcc and clang, also for a GPU: with the same bits from both.
#if defined(__CUDACC__) || defined(__CUDA__)
#define CONVLADDER_HOST_DEVICE __host__ __device__
#else
#define CONVLADDER_HOST_DEVICE
#endif

namespace convladder {

inline constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;

/// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
CONVLADDER_HOST_DEVICE inline std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// The beginning of the sequence of a seed and stream.
CONVLADDER_HOST_DEVICE inline std::uint64_t random_state(std::uint64_t seed, std::uint64_t stream) {
  return mix_bits(mix_bits(seed) ^ (stream * kGoldenRatio));
}

/// The number at `place`, from 0, of a sequence.
CONVLADDER_HOST_DEVICE inline std::uint64_t random_bits(std::uint64_t state, std::uint64_t place) {
  return mix_bits(state + (place + 1) * kGoldenRatio);
}

/// SeededRandom::between for one number: low..low + range - 1.
CONVLADDER_HOST_DEVICE inline int bits_between(std::uint64_t bits, int low, std::uint64_t range) {
  return low + static_cast<int>(((bits >> 32) * range) >> 32);
}

}  // namespace convladder
