// The comparison operators of setp and set, and how a result is combined with a predicate (PTX ISA 9.0, 9.7.6).
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "simulator/instructions/arithmetic/float_modifiers.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"

namespace convladder::simulated {

// Ordered comparisons are false if an input is NaN, unordered ones ("…u") are true.
struct Equal {
  template <typename T>
  static bool apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a < b || a > b;
  }
};
struct Less {
  template <typename T>
  static bool apply(T a, T b) {
    return a < b;
  }
};
struct LessOrEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool apply(T a, T b) {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <typename T>
  static bool apply(T a, T b) {
    return a >= b;
  }
};
struct BothNumbers {
  template <typename T>
  static bool apply(T a, T b) {
    return a == a && b == b;
  }
};
template <typename Opposite>
struct Unless {
  template <typename T>
  static bool apply(T a, T b) {
    return !Opposite::apply(a, b);
  }
};

/// How the result of a comparison is combined with a further predicate.
enum class Combination : std::uint8_t { alone, with_and, with_or, with_xor };
inline LaneMask combined(Combination how, LaneMask result, LaneMask further) {
  switch (how) {
    case Combination::with_and:
      return result & further;
    case Combination::with_or:
      return result | further;
    case Combination::with_xor:
      return result ^ further;
    default:
      return result;
  }
}

template <bool kFlush, typename T>
auto comparable(T value) {
  if constexpr (std::is_class_v<T>) {
    const float wide = to_float(value);
    // The smallest normal half is far above binary32's, so flushing is done here.
    return kFlush && std::abs(wide) < 0x1p-14F ? 0.0F : wide;
  } else {
    return flushed<kFlush>(value);
  }
}

/// The lanes for which the comparison holds, inactive ones included.
template <typename Comparison, typename T, bool kFlush>
LaneMask compare(const WarpState& warp, Slot left, Slot right) {
  const auto* a = warp.read<SlotElement<T>>(left);
  const auto* b = warp.read<SlotElement<T>>(right);
  LaneMask result = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const bool holds =
        Comparison::apply(comparable<kFlush>(from_slot<T>(a[lane])), comparable<kFlush>(from_slot<T>(b[lane])));
    result |= LaneMask{holds} << lane;
  }
  return result;
}

/// The lanes for which the comparison of 16-bit numbers holds, in the lower and in the upper halves of the pairs.
struct HalfMasks {
  LaneMask low = 0;
  LaneMask high = 0;
};
template <typename Comparison, typename Element, bool kFlush>
HalfMasks compare_halves(const WarpState& warp, Slot left, Slot right) {
  const auto* a = warp.read<std::uint32_t>(left);
  const auto* b = warp.read<std::uint32_t>(right);
  HalfMasks result;
  for (int lane = 0; lane < kLanes; ++lane) {
    const Pair<Element> x{a[lane]};
    const Pair<Element> y{b[lane]};
    result.low |= LaneMask{Comparison::apply(comparable<kFlush>(x.low()), comparable<kFlush>(y.low()))} << lane;
    result.high |= LaneMask{Comparison::apply(comparable<kFlush>(x.high()), comparable<kFlush>(y.high()))} << lane;
  }
  return result;
}

/// Calls visit.operator()<Comparison>(name) for every operator that type T has.
template <typename T, typename Visit>
void for_each_comparison(const Visit& visit) {
  visit.template operator()<Equal>("eq");
  visit.template operator()<NotEqual>("ne");
  visit.template operator()<Less>("lt");
  visit.template operator()<LessOrEqual>("le");
  visit.template operator()<Greater>("gt");
  visit.template operator()<GreaterOrEqual>("ge");
  if constexpr (std::is_unsigned_v<T>) {  // unsigned types have further names of the same operators
    visit.template operator()<Less>("lo");
    visit.template operator()<LessOrEqual>("ls");
    visit.template operator()<Greater>("hi");
    visit.template operator()<GreaterOrEqual>("hs");
  }
  if constexpr (!std::is_integral_v<T>) {
    visit.template operator()<Unless<NotEqual>>("equ");
    visit.template operator()<Unless<Equal>>("neu");
    visit.template operator()<Unless<GreaterOrEqual>>("ltu");
    visit.template operator()<Unless<Greater>>("leu");
    visit.template operator()<Unless<LessOrEqual>>("gtu");
    visit.template operator()<Unless<Less>>("geu");
    visit.template operator()<BothNumbers>("num");
    visit.template operator()<Unless<BothNumbers>>("nan");
  }
}

}  // namespace convladder::simulated
