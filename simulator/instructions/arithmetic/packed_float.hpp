// Single precision operations on two numbers in 64 bits (.f32x2), and on 16-bit factors and terms (.f32.f16).
#pragma once

#include <bit>
#include <cstdint>

#include "support/half.hpp"

namespace convladder::simulated {

/// .f32x2: two floats, the first in the lower half.
struct SinglePair {
  using Bits = std::uint64_t;
  Bits bits = 0;
  float low() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
  float high() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32)); }
  static SinglePair of(float low, float high) {
    return {std::bit_cast<std::uint32_t>(low) | (Bits{std::bit_cast<std::uint32_t>(high)} << 32)};
  }
};

/// Applies the operation to both halves.
template <typename Operation>
struct OnSinglePairs {
  template <typename... Pairs>
  static SinglePair apply(Pairs... pairs) {
    return SinglePair::of(Operation::apply(pairs.low()...), Operation::apply(pairs.high()...));
  }
};

/// Applies the operation to 16-bit numbers and floats, all of them exact.
template <typename Operation>
struct OnWidened {
  static float widened(float value) { return value; }
  template <typename Element>
  static float widened(Element value) {
    return to_float(value);
  }
  template <typename... Arguments>
  static float apply(Arguments... arguments) {
    return Operation::apply(widened(arguments)...);
  }
};

}  // namespace convladder::simulated
