// Conversions with a rounding, a modifier or a type that the host's conversions lack (PTX ISA 9.0, 9.7.9: cvt,
// cvt.pack). They are exact: every source is a double or an integer of 64 bits, which is rounded once.
//
// The supported combinations are those that ptxas 13.0 accepts for sm_90a; others are refused.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "simulator/instructions/arithmetic/conversion.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

/// .tf32: a binary32 whose lower 13 fraction bits are zero.
struct TensorFloat32 {
  using Bits = std::uint32_t;
  static constexpr FloatFormat kFormat = kTensorFloat32Format;
  static constexpr Bits kNan = 0x7fffffff;
  static constexpr const char* kSuffix = "tf32";
  Bits bits = 0;
};
struct Single {
  using Bits = std::uint32_t;
  static constexpr FloatFormat kFormat = kSingleFormat;
  static constexpr Bits kNan = 0x7fffffff;
  static constexpr const char* kSuffix = "f32";
  Bits bits = 0;
};
struct Double {
  using Bits = std::uint64_t;
  static constexpr FloatFormat kFormat = kDoubleFormat;
  static constexpr Bits kNan = 0x7fffffffffffffff;
  static constexpr const char* kSuffix = "f64";
  Bits bits = 0;
};

double to_double(Half value) { return to_float(value); }
double to_double(Bfloat16 value) { return to_float(value); }
double to_double(Single value) { return std::bit_cast<float>(value.bits); }
double to_double(Double value) { return std::bit_cast<double>(value.bits); }

/// The meaning of a form's modifiers.
struct ConversionMode {
  Rounding rounding = Rounding::nearest_even;
  bool integral = false;  ///< .rni, .rzi, .rmi or .rpi
  bool flush = false;     ///< .ftz
  bool saturate = false;  ///< .sat
  bool rectify = false;   ///< .relu
  bool finite = false;    ///< .satfinite

  std::int64_t parameter() const {
    return static_cast<int>(rounding) | (integral ? 8 : 0) | (flush ? 16 : 0) | (saturate ? 32 : 0) |
           (rectify ? 64 : 0) | (finite ? 128 : 0);
  }
  static ConversionMode from(std::int64_t code) {
    return {static_cast<Rounding>(code & 7),
            (code & 8) != 0,
            (code & 16) != 0,
            (code & 32) != 0,
            (code & 64) != 0,
            (code & 128) != 0};
  }
};

double rounded_to_integral(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::toward_zero:
      return std::trunc(value);
    case Rounding::down:
      return std::floor(value);
    case Rounding::up:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

double flushed_single(double value) { return std::abs(value) < 0x1p-126 ? std::copysign(0.0, value) : value; }

template <typename To>
std::uint64_t converted(double value, const ConversionMode& mode) {
  if (mode.integral) value = rounded_to_integral(value, mode.rounding);
  if (mode.saturate) value = value > 0 ? std::min(value, 1.0) : 0.0;
  if (mode.rectify && value <= 0) value = 0.0;
  std::uint64_t bits = round_double<To::kFormat>(value, mode.rounding, To::kNan);
  constexpr std::uint64_t kInfinity = To::kFormat.infinity() << To::kFormat.unused_bits;
  constexpr std::uint64_t kSign = std::uint64_t{1} << (8 * sizeof(typename To::Bits) - 1);
  if (mode.finite && (bits & ~kSign) == kInfinity) {
    bits = (bits & kSign) | ((To::kFormat.infinity() - 1) << To::kFormat.unused_bits);
  }
  if constexpr (std::is_same_v<To, Single>) {
    if (mode.flush && (bits & ~kSign) < 0x00800000U) bits &= kSign;
  }
  return bits;
}

template <typename To, typename From>
struct FloatToFloat {
  explicit FloatToFloat(std::int64_t parameter) : mode(ConversionMode::from(parameter)) {}
  To apply(From from) const {
    double value = to_double(from);
    // .f16.f32 keeps subnormal inputs, against the text of the ISA: .rp gives the smallest half, not zero.
    if (std::is_same_v<From, Single> && !std::is_same_v<To, Half> && mode.flush) value = flushed_single(value);
    return {static_cast<typename To::Bits>(converted<To>(value, mode))};
  }
  ConversionMode mode;
};

template <typename To, typename From>
struct IntegerToFloat {
  explicit IntegerToFloat(std::int64_t parameter) : mode(ConversionMode::from(parameter)) {}
  To apply(From value) const {
    if (mode.saturate) value = std::clamp(value, From{0}, From{1});
    const bool negative = std::cmp_less(value, 0);
    const auto extended = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    const Unpacked unpacked = unpack_integer(negative, negative ? 0 - extended : extended);
    return {static_cast<typename To::Bits>(pack<To::kFormat>(unpacked, mode.rounding))};
  }
  ConversionMode mode;
};

template <typename To, typename From>
struct FloatToInteger {
  explicit FloatToInteger(std::int64_t parameter) : mode(ConversionMode::from(parameter)) {}
  Stored<To> apply(From from) const {
    double value = to_double(from);
    if (mode.flush) value = flushed_single(value);
    // The result for NaN depends on the source's width.
    if (value != value && sizeof(To) < 8) return 0;
    return float_to_integer<To>(value, rounded_to_integral(value, mode.rounding));
  }
  ConversionMode mode;
};

/// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half.
template <typename Element>
struct SinglesToPair {
  explicit SinglesToPair(std::int64_t parameter) : mode(ConversionMode::from(parameter)) {}
  Pair<Element> apply(Single high, Single low) const {
    const auto half = [this](Single value) {
      return Element{static_cast<std::uint16_t>(converted<Element>(to_double(value), mode))};
    };
    return Pair<Element>::of(half(low), half(high));
  }
  ConversionMode mode;
};

/// cvt.rs.f16x2.f32 d, a, b, random: the part of a magnitude below the type's last place is rounded up if it and
/// `kRandomBits` bits, both as fractions of the last place, make one or more. The upper half of `random` is for a.
template <typename Element>
struct SinglesToPairAtRandom {
  static constexpr int kRandomBits = std::is_same_v<Element, Half> ? 13 : 16;
  explicit SinglesToPairAtRandom(std::int64_t parameter) : mode(ConversionMode::from(parameter)) {}
  Pair<Element> apply(Single high, Single low, std::uint32_t random) const {
    return Pair<Element>::of(half(low, random & 0xffffU), half(high, random >> 16));
  }
  Element half(Single from, std::uint32_t random) const {
    const double value = to_double(from);
    ConversionMode how = mode;
    how.rounding = Rounding::toward_zero;
    if (std::abs(value) < std::numeric_limits<double>::infinity()) {
      constexpr int kLeast = Element::kFormat.smallest_exponent();
      const int exponent = std::max(value == 0 ? kLeast : std::ilogb(value), kLeast) - Element::kFormat.fraction_bits;
      const double places = std::scalbn(std::abs(value), kRandomBits - exponent);  // exact
      const double whole =
          std::floor(std::scalbn(std::floor(places) + (random & ((1U << kRandomBits) - 1)), -kRandomBits));
      const double rounded = std::copysign(std::scalbn(whole, exponent), value);
      const bool overflows = std::abs(rounded) >= std::scalbn(1.0, Element::kFormat.bias() + 1);
      return {static_cast<std::uint16_t>(converted<Element>(
          overflows ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded, how))};
    }
    return {static_cast<std::uint16_t>(converted<Element>(value, how))};
  }
  ConversionMode mode;
};

/// cvt.pack.sat: two numbers clamped to fewer bits, the first above the second, both below the remaining bits of a
/// third.
struct PackIntegers {
  explicit PackIntegers(std::int64_t parameter)
      : bits(static_cast<int>(parameter >> 1)), is_signed((parameter & 1) != 0) {}
  std::uint32_t apply(std::int32_t a, std::int32_t b, std::uint32_t c) const {
    const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
    const auto most = static_cast<std::int32_t>(is_signed ? mask >> 1 : mask);
    const std::int32_t least = is_signed ? -most - 1 : 0;
    const auto clamped = [&](std::int32_t value) {
      return static_cast<std::uint32_t>(std::clamp(value, least, most)) & mask;
    };
    return (bits == 16 ? 0 : c << (2 * bits)) | (clamped(a) << bits) | clamped(b);
  }
  std::uint32_t apply(std::int32_t a, std::int32_t b) const { return apply(a, b, 0); }
  int bits;
  bool is_signed;
};

using Named = std::pair<const char*, Rounding>;
constexpr std::array<Named, 4> kRoundings{
    {{".rn", Rounding::nearest_even}, {".rz", Rounding::toward_zero}, {".rm", Rounding::down}, {".rp", Rounding::up}}};
constexpr std::array<Named, 4> kIntegralRoundings{{{".rni", Rounding::nearest_even},
                                                   {".rzi", Rounding::toward_zero},
                                                   {".rmi", Rounding::down},
                                                   {".rpi", Rounding::up}}};

/// Adds the conversions between one pair of types, for some modifiers at a time.
template <typename To, typename From>
struct FloatForms {
  FormTable& table;

  void add(const std::string& modifiers, const ConversionMode& mode) const {
    add_parameterized_form<FloatToFloat<To, From>, To, From>(
        table, fmt::format("cvt{}.{}.{}", modifiers, To::kSuffix, From::kSuffix), mode.parameter());
  }
  /// Adds the forms with [.ftz][.sat], each where the types have it.
  void add_with(const std::string& rounding, ConversionMode mode, bool flush, bool saturate) const {
    for (const bool ftz : {false, true}) {
      for (const bool sat : {false, true}) {
        if ((ftz && !flush) || (sat && !saturate)) continue;
        mode.flush = ftz;
        mode.saturate = sat;
        add(fmt::format("{}{}{}", rounding, ftz ? ".ftz" : "", sat ? ".sat" : ""), mode);
      }
    }
  }
  void add_exact(bool flush, bool saturate) const { add_with("", {}, flush, saturate); }
  void add_rounded(bool flush, bool saturate) const {
    for (const auto& [name, rounding] : kRoundings) add_with(name, {.rounding = rounding}, flush, saturate);
  }
  void add_integral(bool flush, bool saturate) const {
    for (const auto& [name, rounding] : kIntegralRoundings) {
      add_with(name, {.rounding = rounding, .integral = true}, flush, saturate);
    }
  }
};

/// Calls add(modifiers, mode) for the modifiers that only conversions from single precision to 16 bits have.
template <typename Add>
void for_each_clamping(const Add& add) {
  for (const auto& [name, rounding] : {kRoundings[0], kRoundings[1]}) {
    add(fmt::format("{}.relu", name), ConversionMode{.rounding = rounding, .rectify = true});
    add(fmt::format("{}.satfinite", name), ConversionMode{.rounding = rounding, .finite = true});
    const ConversionMode both{.rounding = rounding, .rectify = true, .finite = true};
    add(fmt::format("{}.relu.satfinite", name), both);
    add(fmt::format("{}.satfinite.relu", name), both);
  }
}

void add_between_floats(FormTable& table) {
  FloatForms<Half, Half>{table}.add_exact(false, true);
  FloatForms<Half, Half>{table}.add_integral(false, true);
  FloatForms<Bfloat16, Bfloat16>{table}.add_exact(false, false);
  FloatForms<Bfloat16, Bfloat16>{table}.add_integral(false, false);
  FloatForms<Single, Single>{table}.add_exact(true, true);
  FloatForms<Single, Single>{table}.add_integral(true, true);
  FloatForms<Double, Double>{table}.add_exact(false, true);
  FloatForms<Double, Double>{table}.add_integral(false, true);

  FloatForms<Single, Half>{table}.add_exact(true, true);
  FloatForms<Single, Bfloat16>{table}.add_exact(true, false);
  FloatForms<Single, Bfloat16>{table}.add_rounded(true, false);
  FloatForms<Double, Half>{table}.add_exact(false, true);
  FloatForms<Double, Bfloat16>{table}.add_exact(false, false);
  FloatForms<Double, Bfloat16>{table}.add_rounded(false, false);
  FloatForms<Double, Single>{table}.add_exact(true, true);

  FloatForms<Half, Bfloat16>{table}.add_rounded(false, false);
  FloatForms<Bfloat16, Half>{table}.add_rounded(false, false);
  FloatForms<Half, Bfloat16>{table}.add_exact(false, false);  // no rounding means .rn, for ptxas too
  FloatForms<Bfloat16, Half>{table}.add_exact(false, false);
  FloatForms<Half, Single>{table}.add_rounded(true, true);
  FloatForms<Bfloat16, Single>{table}.add_rounded(true, false);
  FloatForms<Half, Double>{table}.add_rounded(false, true);
  FloatForms<Bfloat16, Double>{table}.add_rounded(false, false);
  FloatForms<Single, Double>{table}.add_rounded(true, true);
  const auto to_half = [&](const std::string& modifiers, const ConversionMode& mode) {
    FloatForms<Half, Single>{table}.add(modifiers, mode);
    FloatForms<Bfloat16, Single>{table}.add(modifiers, mode);
  };
  for_each_clamping(to_half);

  const FloatForms<TensorFloat32, Single> to_tf32{table};
  to_tf32.add(".rna", {.rounding = Rounding::nearest_away});
  to_tf32.add(".rna.satfinite", {.rounding = Rounding::nearest_away, .finite = true});
  for (const auto& [name, rounding] : {kRoundings[0], kRoundings[1]}) {
    to_tf32.add(name, {.rounding = rounding});
    to_tf32.add(fmt::format("{}.relu", name), {.rounding = rounding, .rectify = true});
    to_tf32.add(fmt::format("{}.satfinite", name), {.rounding = rounding, .finite = true});
    for (const char* both : {"relu.satfinite", "satfinite.relu"}) {
      to_tf32.add(fmt::format("{}.{}", name, both), {.rounding = rounding, .rectify = true, .finite = true});
    }
  }
}

template <typename Element>
void add_pairs(FormTable& table) {
  const auto add = [&](const std::string& modifiers, const ConversionMode& mode) {
    add_parameterized_form<SinglesToPair<Element>, Pair<Element>, Single, Single>(
        table, fmt::format("cvt{}.{}x2.f32", modifiers, Element::kSuffix), mode.parameter());
  };
  add(".rn", {});
  add(".rz", {.rounding = Rounding::toward_zero});
  for_each_clamping(add);
  for (const bool rectify : {false, true}) {
    for (const bool finite : {false, true}) {
      const ConversionMode mode{.rectify = rectify, .finite = finite};
      add_parameterized_form<SinglesToPairAtRandom<Element>, Pair<Element>, Single, Single, std::uint32_t>(
          table,
          fmt::format("cvt.rs{}{}.{}x2.f32", rectify ? ".relu" : "", finite ? ".satfinite" : "", Element::kSuffix),
          mode.parameter());
    }
  }
}

/// Rounding to nearest even without modifiers is in conversion.cpp, for binary32 and binary64.
template <typename To, typename From>
void add_integer_to_float(FormTable& table) {
  constexpr bool kSingle = std::is_same_v<To, Single>;
  constexpr bool kOnHost = kSingle || std::is_same_v<To, Double>;
  for (const auto& [name, rounding] : kRoundings) {
    for (const char* flush : {"", ".ftz"}) {  // no result is subnormal
      for (const char* saturation : {"", ".sat"}) {
        if (!kSingle && flush[0] != 0) continue;
        if (std::is_same_v<To, Bfloat16> && saturation[0] != 0) continue;
        if (kOnHost && rounding == Rounding::nearest_even && saturation[0] == 0) continue;
        const ConversionMode mode{.rounding = rounding, .saturate = saturation[0] != 0};
        add_parameterized_form<IntegerToFloat<To, From>, To, From>(
            table, fmt::format("cvt{}{}{}.{}.{}", name, flush, saturation, To::kSuffix, type_suffix<From>()),
            mode.parameter());
      }
    }
  }
}

template <typename To, typename From>
void add_float_to_integer(FormTable& table, bool flush, bool saturate) {
  for (const auto& [name, rounding] : kIntegralRoundings) {
    const ConversionMode mode{.rounding = rounding, .flush = flush};
    for (const char* saturation : {"", ".sat"}) {
      if (!saturate && saturation[0] != 0) continue;
      table.add(fmt::format("cvt{}{}{}.{}.{}", name, flush ? ".ftz" : "", saturation, type_suffix<To>(), From::kSuffix),
                {stored_use<To>(), read_use<From>()},
                &ParameterizedLaneOperation<FloatToInteger<To, From>, Stored<To>, From>::execute, mode.parameter());
    }
  }
}

template <typename Integer>
void add_integer(FormTable& table) {
  add_integer_to_float<Half, Integer>(table);
  add_integer_to_float<Single, Integer>(table);
  add_integer_to_float<Double, Integer>(table);
  add_float_to_integer<Integer, Half>(table, false, true);
  add_float_to_integer<Integer, Single>(table, true, true);
  if constexpr (sizeof(Integer) > 1) {
    add_integer_to_float<Bfloat16, Integer>(table);
    add_float_to_integer<Integer, Bfloat16>(table, false, false);
  }
}

void add_integer_packing(FormTable& table) {
  using S = std::int32_t;
  using U = std::uint32_t;
  for (const bool is_signed : {false, true}) {
    const char sign = is_signed ? 's' : 'u';
    for (const int bits : {2, 4, 8}) {
      add_parameterized_form<PackIntegers, U, S, S, U>(table, fmt::format("cvt.pack.sat.{}{}.s32.b32", sign, bits),
                                                       2 * bits + (is_signed ? 1 : 0));
    }
    add_parameterized_form<PackIntegers, U, S, S>(table, fmt::format("cvt.pack.sat.{}16.s32", sign),
                                                  2 * 16 + (is_signed ? 1 : 0));
  }
}

}  // namespace

void add_float_conversion_forms(FormTable& table) {
  add_between_floats(table);
  add_pairs<Half>(table);
  add_pairs<Bfloat16>(table);
  add_integer<std::int8_t>(table);
  add_integer<std::uint8_t>(table);
  add_integer<std::int16_t>(table);
  add_integer<std::uint16_t>(table);
  add_integer<std::int32_t>(table);
  add_integer<std::uint32_t>(table);
  add_integer<std::int64_t>(table);
  add_integer<std::uint64_t>(table);
  add_integer_packing(table);
}

}  // namespace convladder::simulated
