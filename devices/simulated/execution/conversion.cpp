// Conversions between types (PTX ISA 9.0, 9.7.9: cvt).

#include <cmath>
#include <limits>

#include "devices/simulated/execution/lane_functions.hpp"

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

/// Integer to float, rounded to nearest even: what C++ does in the default rounding mode.
template <typename To, typename From>
struct IntegerToFloat {
  static To apply(From value) { return static_cast<To>(value); }
};

struct Nearest {
  template <typename T>
  static T apply(T value) {
    return std::nearbyint(value);  // the default mode: to nearest even
  }
};
struct TowardsZero {
  template <typename T>
  static T apply(T value) {
    return std::trunc(value);
  }
};
struct Down {
  template <typename T>
  static T apply(T value) {
    return std::floor(value);
  }
};
struct Up {
  template <typename T>
  static T apply(T value) {
    return std::ceil(value);
  }
};

/// Float to integer: rounded, then clamped to the destination's range. NaN becomes 0, but all ones in 64 bits from
/// double precision, as PTX says.
template <typename Rounding, typename To, typename From>
struct FloatToInteger {
  static To apply(From value) {
    if (value != value) {
      return sizeof(From) == 8 && sizeof(To) == 8
                 ? (std::is_signed_v<To> ? std::numeric_limits<To>::min() : std::numeric_limits<To>::max())
                 : To{0};
    }
    const From rounded = Rounding::apply(value);
    // The largest integer may not be a float; the power of two above it always is.
    constexpr int width = std::numeric_limits<To>::digits;
    if (rounded >= std::ldexp(From{1}, width)) return std::numeric_limits<To>::max();
    if (rounded < static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(rounded);
  }
};

/// Float to the same float, rounded to an integral value.
template <typename Rounding, typename T>
struct RoundToIntegral {
  static T apply(T value) { return Rounding::apply(value); }
};

template <typename To, typename From>
struct FloatToFloat {
  static To apply(From value) { return static_cast<To>(value); }
};

template <typename To, typename From>
void add_integer_conversion(FormTable& table) {
  const std::string types = fmt::format(".{}.{}", type_suffix<To>(), type_suffix<From>());
  add_form<Integers<To, From>, To, From>(table, fmt::format("cvt{}", types));
  if constexpr (!std::is_same_v<To, From>)
    add_form<SaturatedIntegers<To, From>, To, From>(table, fmt::format("cvt.sat{}", types));
}

template <typename Integer, typename Float>
void add_integer_float(FormTable& table) {
  const std::string to_integer = fmt::format(".{}.{}", type_suffix<Integer>(), type_suffix<Float>());
  add_form<IntegerToFloat<Float, Integer>, Float, Integer>(
      table, fmt::format("cvt.rn.{}.{}", type_suffix<Float>(), type_suffix<Integer>()));
  add_form<FloatToInteger<Nearest, Integer, Float>, Integer, Float>(table, fmt::format("cvt.rni{}", to_integer));
  add_form<FloatToInteger<TowardsZero, Integer, Float>, Integer, Float>(table, fmt::format("cvt.rzi{}", to_integer));
  add_form<FloatToInteger<Down, Integer, Float>, Integer, Float>(table, fmt::format("cvt.rmi{}", to_integer));
  add_form<FloatToInteger<Up, Integer, Float>, Integer, Float>(table, fmt::format("cvt.rpi{}", to_integer));
}

template <typename To>
void add_to_integer(FormTable& table) {
  add_integer_conversion<To, std::int8_t>(table);
  add_integer_conversion<To, std::uint8_t>(table);
  add_integer_conversion<To, std::int16_t>(table);
  add_integer_conversion<To, std::uint16_t>(table);
  add_integer_conversion<To, std::int32_t>(table);
  add_integer_conversion<To, std::uint32_t>(table);
  add_integer_conversion<To, std::int64_t>(table);
  add_integer_conversion<To, std::uint64_t>(table);
  add_integer_float<To, float>(table);
  add_integer_float<To, double>(table);
}

template <typename T>
void add_roundings(FormTable& table) {
  const std::string types = fmt::format(".{}.{}", type_suffix<T>(), type_suffix<T>());
  add_form<FloatToFloat<T, T>, T, T>(table, fmt::format("cvt{}", types));
  add_form<RoundToIntegral<Nearest, T>, T, T>(table, fmt::format("cvt.rni{}", types));
  add_form<RoundToIntegral<TowardsZero, T>, T, T>(table, fmt::format("cvt.rzi{}", types));
  add_form<RoundToIntegral<Down, T>, T, T>(table, fmt::format("cvt.rmi{}", types));
  add_form<RoundToIntegral<Up, T>, T, T>(table, fmt::format("cvt.rpi{}", types));
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
  add_roundings<float>(table);
  add_roundings<double>(table);
  add_form<FloatToFloat<double, float>, double, float>(table, "cvt.f64.f32");
  add_form<FloatToFloat<float, double>, float, double>(table, "cvt.rn.f32.f64");
}

}  // namespace convladder::simulated
