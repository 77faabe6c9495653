// Conversions to and from integers as the host does them (PTX ISA 9.0, 9.7.9: cvt). Those with other roundings and
// types are in float_conversion.cpp.

#include <limits>
#include <utility>

#include "simulator/instructions/arithmetic/conversion.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"

namespace convladder::simulated {
namespace {

/// Integer to integer: widened by the source's sign, cut to the destination.
template <typename To, typename From>
struct Integers {
  static To apply(From value) { return static_cast<To>(value); }
};
/// .sat: clamped to what the destination holds.
template <typename To, typename From>
struct SaturatedIntegers {
  static To apply(From value) {
    if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (std::cmp_greater(value, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  }
};

/// Integer to float, rounded to nearest even, as C++ does it in the default rounding mode.
template <typename To, typename From>
struct IntegerToFloat {
  static To apply(From value) { return static_cast<To>(value); }
};

/// Float to integer: rounded, then clamped to the destination's range, with .sat or without.
template <typename Rounding, typename To, typename From>
struct FloatToInteger {
  static To apply(From value) { return float_to_integer<To>(value, Rounding::apply(value)); }
};

/// Adds "cvtMODIFIERS.TO.FROM".
void add_named(FormTable& table, std::string_view modifiers, std::string_view to, std::string_view from,
               std::initializer_list<OperandUse> operands, Handler handler) {
  table.add(fmt::format("cvt{}.{}.{}", modifiers, to, from), operands, handler);
}

template <typename Function, typename To, typename From>
void add_conversion(FormTable& table, std::string_view modifiers) {
  add_named(table, modifiers, type_suffix<To>(), type_suffix<From>(), {stored_use<To>(), read_use<From>()},
            &LaneOperation<Function, Stored<To>, From>::execute);
}

template <typename To, typename From>
void add_integers(FormTable& table) {
  add_conversion<Integers<To, From>, To, From>(table, "");
  // .sat is refused where it has no effect.
  constexpr bool kHoldsAll =
      std::in_range<To>(std::numeric_limits<From>::min()) && std::in_range<To>(std::numeric_limits<From>::max());
  if constexpr (!kHoldsAll) add_conversion<SaturatedIntegers<To, From>, To, From>(table, ".sat");
}

template <typename Integer, typename Float>
void add_integer_float(FormTable& table) {
  add_conversion<IntegerToFloat<Float, Integer>, Float, Integer>(table, ".rn");
  if (sizeof(Float) == 4) {  // no result is subnormal
    add_conversion<IntegerToFloat<Float, Integer>, Float, Integer>(table, ".rn.ftz");
  }
  const auto add_rounded = [&]<typename Rounding>(std::string_view modifiers) {
    add_conversion<FloatToInteger<Rounding, Integer, Float>, Integer, Float>(table, modifiers);
  };
  add_rounded.template operator()<Nearest>(".rni");
  add_rounded.template operator()<Nearest>(".rni.sat");
  add_rounded.template operator()<TowardsZero>(".rzi");
  add_rounded.template operator()<TowardsZero>(".rzi.sat");
  add_rounded.template operator()<Down>(".rmi");
  add_rounded.template operator()<Down>(".rmi.sat");
  add_rounded.template operator()<Up>(".rpi");
  add_rounded.template operator()<Up>(".rpi.sat");
}

template <typename To>
void add_to_integer(FormTable& table) {
  add_integers<To, std::int8_t>(table);
  add_integers<To, std::uint8_t>(table);
  add_integers<To, std::int16_t>(table);
  add_integers<To, std::uint16_t>(table);
  add_integers<To, std::int32_t>(table);
  add_integers<To, std::uint32_t>(table);
  add_integers<To, std::int64_t>(table);
  add_integers<To, std::uint64_t>(table);
  add_integer_float<To, float>(table);
  add_integer_float<To, double>(table);
}

}  // namespace

void add_conversion_forms(FormTable& table) {
  add_to_integer<std::int8_t>(table);
  add_to_integer<std::uint8_t>(table);
  add_to_integer<std::int16_t>(table);
  add_to_integer<std::uint16_t>(table);
  add_to_integer<std::int32_t>(table);
  add_to_integer<std::uint32_t>(table);
  add_to_integer<std::int64_t>(table);
  add_to_integer<std::uint64_t>(table);
}

}  // namespace convladder::simulated
