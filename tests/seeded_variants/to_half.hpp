// The precision of float16, for variants that claim more.
#pragma once

#include <bit>
#include <cstdint>

namespace convladder {

/// The nearest float with the 11 bits of a half.
inline float to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x0fffU + ((bits >> 13) & 1U)) & ~0x1fffU);
}

}  // namespace convladder
