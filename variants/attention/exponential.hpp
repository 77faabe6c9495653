// e^x for a vector of floats, by a polynomial.
#pragma once

#include <bit>
#include <cstdint>

#include "register_tile.hpp"

namespace attention {

using register_tile::kLanes;
using register_tile::Vector;
using Whole [[gnu::vector_size(kLanes * sizeof(std::int32_t))]] = std::int32_t;

inline Vector larger(Vector a, Vector b) { return a > b ? a : b; }

/// e^x for x <= 0; below -87 the result is 1.6e-38, about the smallest float with all its bits. Within 2e-7 of the
/// result, and about |x| * 6e-8 of it.
[[gnu::always_inline]] inline Vector exponential(Vector x) {
  x = larger(x, Vector{} - 87.0F);
  // x = n * ln 2 + rest with a whole n: adding 1.5 * 2^23 leaves n in the last bits.
  constexpr float kWhole = 0x1.8p23F;
  const Vector shifted = x * 0x1.715476p0F + kWhole;
  const Vector n = shifted - kWhole;
  const Vector rest = x - n * 0x1.62e4p-1F - n * 0x1.7f7d1cp-20F;  // ln 2 in two parts; n times the first is exact
  Vector value = rest * (1.0F / 720) + 1.0F / 120;
  value = value * rest + 1.0F / 24;
  value = value * rest + 1.0F / 6;
  value = value * rest + 0.5F;
  value = value * rest + 1.0F;
  value = value * rest + 1.0F;
  return std::bit_cast<Vector>(std::bit_cast<Whole>(value) + (std::bit_cast<Whole>(shifted) << 23));  // times 2^n
}

}  // namespace attention
