// Differences of rounds as a noisy machine makes them, from a seed.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "support/seeded_random.hpp"

namespace convladder {

/// Between 0 and 1, neither included.
inline double uniform(SeededRandom& random) { return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53; }

/// Box and Muller.
inline double normal(SeededRandom& random) {
  return std::sqrt(-2 * std::log(uniform(random))) * std::cos(2 * std::numbers::pi * uniform(random));
}

/// One difference: both orders cancelled the drift, a tenth of the rounds has five times the noise.
inline double noisy(SeededRandom& random, double sigma, double change) {
  const double scale = random.chance(10) ? 5 * sigma : sigma;
  return change + scale * normal(random);
}

inline std::vector<double> trace(SeededRandom& random, int rounds, double sigma, double change) {
  std::vector<double> differences;
  for (int round = 0; round < rounds; ++round) differences.push_back(noisy(random, sigma, change));
  return differences;
}

}  // namespace convladder
