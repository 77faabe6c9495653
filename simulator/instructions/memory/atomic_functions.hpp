// The new values of atomics: functions of the value in memory.
//
// apply(old, b, c) is the new value. `kCommutes`: any order of several operations gives the same memory. `kRounds`: any
// order would, but for the rounding of sums. `kFlush`, for types that it affects: subnormal inputs and results are
// zeros.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/half.hpp"

namespace convladder::simulated {

struct Exchange {
  static constexpr bool kCommutes = false;
  template <typename T>
  static T apply(T /*old*/, T b, T /*c*/) {
    return b;
  }
};
struct CompareAndSwap {
  static constexpr bool kCommutes = false;
  template <typename T>
  static T apply(T old, T b, T c) {
    return old == b ? c : old;
  }
};
struct Add {
  static constexpr bool kCommutes = true;
  template <typename T>
  static T apply(T old, T b, T /*c*/) {
    return old + b;
  }
};
struct Minimum {
  static constexpr bool kCommutes = true;
  template <typename T>
  static T apply(T old, T b, T /*c*/) {
    return std::min(old, b);
  }
};
struct Maximum {
  static constexpr bool kCommutes = true;
  template <typename T>
  static T apply(T old, T b, T /*c*/) {
    return std::max(old, b);
  }
};
struct And {
  static constexpr bool kCommutes = true;
  template <typename T>
  static T apply(T old, T b, T /*c*/) {
    return old & b;
  }
};
struct Or {
  static constexpr bool kCommutes = true;
  template <typename T>
  static T apply(T old, T b, T /*c*/) {
    return old | b;
  }
};
struct Xor {
  static constexpr bool kCommutes = true;
  template <typename T>
  static T apply(T old, T b, T /*c*/) {
    return old ^ b;
  }
};
struct Increment {  // wraps to 0 from b on
  static constexpr bool kCommutes = false;
  template <typename T>
  static T apply(T old, T b, T /*c*/) {
    return old >= b ? T{0} : old + 1;
  }
};
struct Decrement {  // wraps to b from 0, and from above b
  static constexpr bool kCommutes = false;
  template <typename T>
  static T apply(T old, T b, T /*c*/) {
    return old == 0 || old > b ? b : old - 1;
  }
};

/// Sums of floating point numbers, on the bits in memory. In global memory atom.add.f32 treats subnormal numbers as
/// zeros.
template <bool kFlush>
struct AddFloat {
  static constexpr bool kCommutes = false;
  static constexpr bool kRounds = true;
  static float flushed(float value) {
    return kFlush && std::abs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0F, value) : value;
  }
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b, std::uint32_t /*c*/) {
    const float sum = flushed(flushed(std::bit_cast<float>(old)) + flushed(std::bit_cast<float>(b)));
    return sum != sum ? 0x7fffffffU : std::bit_cast<std::uint32_t>(sum);
  }
};
struct AddDouble {
  static constexpr bool kCommutes = false;
  static constexpr bool kRounds = true;
  static std::uint64_t apply(std::uint64_t old, std::uint64_t b, std::uint64_t /*c*/) {
    return std::bit_cast<std::uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(b));
  }
};
template <typename Element>
Element add_elements(Element a, Element b) {
  return round_to<Element>(add_to_odd(to_float(a), to_float(b)));
}
template <typename Element>
struct AddElement {
  static constexpr bool kCommutes = false;
  static constexpr bool kRounds = true;
  static std::uint16_t apply(std::uint16_t old, std::uint16_t b, std::uint16_t /*c*/) {
    return add_elements(Element{old}, Element{b}).bits;
  }
};
template <typename Element>
struct AddPair {
  static constexpr bool kCommutes = false;
  static constexpr bool kRounds = true;
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b, std::uint32_t /*c*/) {
    const Pair<Element> left{old};
    const Pair<Element> right{b};
    return Pair<Element>::of(add_elements(left.low(), right.low()), add_elements(left.high(), right.high())).bits;
  }
};

/// The smaller or greater of two numbers: NaN gives the other number, and +0 is above -0.
template <typename Element, bool kGreater>
Element extreme_of(Element a, Element b) {
  const float x = to_float(a);
  const float y = to_float(b);
  if (x != x && y != y) return Element{Element::kNan};
  if (x != x) return b;
  if (y != y) return a;
  if (x == y) return std::signbit(x) == kGreater ? b : a;
  return (x > y) == kGreater ? a : b;
}
template <typename Element, bool kGreater>
struct ExtremeElement {
  static constexpr bool kCommutes = false;
  static std::uint16_t apply(std::uint16_t old, std::uint16_t b, std::uint16_t /*c*/) {
    return extreme_of<Element, kGreater>(Element{old}, Element{b}).bits;
  }
};
template <typename Element, bool kGreater>
struct ExtremePair {
  static constexpr bool kCommutes = false;
  static std::uint32_t apply(std::uint32_t old, std::uint32_t b, std::uint32_t /*c*/) {
    const Pair<Element> left{old};
    const Pair<Element> right{b};
    return Pair<Element>::of(extreme_of<Element, kGreater>(left.low(), right.low()),
                             extreme_of<Element, kGreater>(left.high(), right.high()))
        .bits;
  }
};

/// The new value; where a sum rounds and `adds_bits` is set, the sum of the bits, which is the same in any order.
template <typename Function, typename T>
T changed_by(T old, T b, T c, bool adds_bits) {
  if constexpr (requires { Function::kRounds; }) {
    if (adds_bits) return static_cast<T>(old + b);
  }
  return Function::apply(old, b, c);
}

}  // namespace convladder::simulated
