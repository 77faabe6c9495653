// Arithmetic in half precision and bfloat16, single and in pairs (PTX ISA 9.0, 9.7.4).
//
// Results are computed in double precision and rounded once: sums, differences and products of 16-bit numbers are
// exact there or rounded to odd (half.hpp). The approximations are correctly rounded except for errors in the host's
// last bit.

#include <algorithm>
#include <cmath>

#include "simulator/instructions/arithmetic/float_operations.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"
#include "simulator/memory/tensor_map.hpp"

namespace convladder::simulated {
namespace {

using float_operations::Extremum;

/// The effects of a form's modifiers.
struct HalfModifiers {
  bool flush = false;     ///< .ftz
  bool saturate = false;  ///< .sat
  bool rectify = false;   ///< .relu
  bool outside = false;   ///< .oob

  std::int64_t parameter() const {
    return (flush ? 1 : 0) | (saturate ? 2 : 0) | (rectify ? 4 : 0) | (outside ? 8 : 0);
  }
  static HalfModifiers from(std::int64_t code) {
    return {(code & 1) != 0, (code & 2) != 0, (code & 4) != 0, (code & 8) != 0};
  }
  std::string suffix() const {
    return fmt::format("{}{}{}{}", flush ? ".ftz" : "", saturate ? ".sat" : "", outside ? ".oob" : "",
                       rectify ? ".relu" : "");
  }
};

template <typename Element>
Element flushed_if(bool flush, Element value) {
  constexpr unsigned kSmallestNormal = 1U << Element::kFormat.fraction_bits;
  const bool subnormal = (value.bits & 0x7fffU) < kSmallestNormal;
  return {static_cast<std::uint16_t>(flush && subnormal ? value.bits & 0x8000U : value.bits)};
}

/// Whether the number is the one that a copy by tensor map writes for elements outside of the tensor, of either sign.
template <typename Element>
bool is_from_outside(Element value) {
  return (value.bits & 0x7fffU) == kOutOfBoundsNan;
}

/// Turns an operation on doubles into one on 16-bit numbers.
template <typename Exact, typename Element>
struct InHalf {
  explicit InHalf(std::int64_t parameter) : modifiers(HalfModifiers::from(parameter)) {}

  template <typename... Arguments>
  Element apply(Arguments... arguments) const {
    if (modifiers.outside && (is_from_outside(arguments) || ...)) return {};
    double value = Exact::apply(static_cast<double>(to_float(flushed_if(modifiers.flush, arguments)))...);
    if (modifiers.saturate) value = value > 0 ? std::min(value, 1.0) : 0.0;
    if (modifiers.rectify && value <= 0) value = 0.0;
    return flushed_if(modifiers.flush, round_to<Element>(value));
  }
  HalfModifiers modifiers;
};

/// Turns an operation on doubles into one on both halves of a pair of 16-bit numbers.
template <typename Exact, typename Element>
struct InPair {
  explicit InPair(std::int64_t parameter) : each(parameter) {}

  template <typename... Arguments>
  Pair<Element> apply(Arguments... arguments) const {
    return Pair<Element>::of(each.apply(arguments.low()...), each.apply(arguments.high()...));
  }
  InHalf<Exact, Element> each;
};

struct Add {
  static double apply(double a, double b) { return add_to_odd(a, b); }
};
struct Subtract {
  static double apply(double a, double b) { return add_to_odd(a, -b); }
};
struct Multiply {
  static double apply(double a, double b) { return a * b; }
};
struct FusedMultiplyAdd {
  static double apply(double a, double b, double c) { return fused_multiply_add_to_odd(a, b, c); }
};
struct Negate {
  static double apply(double a) { return -a; }
};
struct Absolute {
  static double apply(double a) { return std::abs(a); }
};
struct HyperbolicTangent {
  static double apply(double a) { return std::tanh(a); }
};
struct ExponentialBase2 {
  static double apply(double a) { return std::exp2(a); }
};

/// Adds the operation for one number and for a pair; `Arguments` has one type for each argument.
template <typename Exact, typename Element, typename... Arguments>
void add(FormTable& table, const std::string& name, const HalfModifiers& modifiers = {}) {
  const std::string start = fmt::format("{}{}.{}", name, modifiers.suffix(), Element::kSuffix);
  add_parameterized_form<InHalf<Exact, Element>, Element, Arguments...>(table, start, modifiers.parameter());
  add_parameterized_form<InPair<Exact, Element>, Pair<Element>, Pair<Arguments>...>(table, start + "x2",
                                                                                    modifiers.parameter());
}

template <typename Element>
void add_for_type(FormTable& table, const std::vector<HalfModifiers>& arithmetic, const std::vector<HalfModifiers>& fma,
                  const std::vector<HalfModifiers>& plain) {
  for (const char* rounding : {"", ".rn"}) {
    for (const HalfModifiers& modifiers : arithmetic) {
      add<Add, Element, Element, Element>(table, fmt::format("add{}", rounding), modifiers);
      add<Subtract, Element, Element, Element>(table, fmt::format("sub{}", rounding), modifiers);
      add<Multiply, Element, Element, Element>(table, fmt::format("mul{}", rounding), modifiers);
    }
  }
  for (const HalfModifiers& modifiers : fma) {
    add<FusedMultiplyAdd, Element, Element, Element, Element>(table, "fma.rn", modifiers);
  }
  for (const HalfModifiers& modifiers : plain) {
    add<Negate, Element, Element>(table, "neg", modifiers);
    add<Absolute, Element, Element>(table, "abs", modifiers);
  }
  add<HyperbolicTangent, Element, Element>(table, "tanh.approx");
}

template <typename Element, bool kMaximum>
void add_extrema(FormTable& table, const std::string& name, const HalfModifiers& modifiers) {
  const std::string start = name + modifiers.suffix();
  const auto add_one = [&]<typename Exact>(const char* how) {
    const std::string opcode = fmt::format("{}{}.{}", start, how, Element::kSuffix);
    add_parameterized_form<InHalf<Exact, Element>, Element, Element, Element>(table, opcode, modifiers.parameter());
    using Two = Pair<Element>;
    add_parameterized_form<InPair<Exact, Element>, Two, Two, Two>(table, opcode + "x2", modifiers.parameter());
  };
  add_one.template operator()<Extremum<kMaximum, false, false>>("");
  add_one.template operator()<Extremum<kMaximum, true, false>>(".NaN");
  add_one.template operator()<Extremum<kMaximum, false, true>>(".xorsign.abs");
  add_one.template operator()<Extremum<kMaximum, true, true>>(".NaN.xorsign.abs");
}

}  // namespace

void add_half_precision_forms(FormTable& table) {
  const HalfModifiers none;
  const HalfModifiers flush{.flush = true};
  const HalfModifiers saturate{.saturate = true};
  const HalfModifiers flush_saturate{.flush = true, .saturate = true};
  const HalfModifiers rectify{.rectify = true};
  const HalfModifiers flush_rectify{.flush = true, .rectify = true};
  const HalfModifiers outside{.outside = true};
  const HalfModifiers outside_rectify{.rectify = true, .outside = true};
  add_for_type<Half>(table, {none, flush, saturate, flush_saturate},
                     {none, flush, saturate, flush_saturate, rectify, flush_rectify, outside, outside_rectify},
                     {none, flush});
  add_for_type<Bfloat16>(table, {none}, {none, rectify, outside, outside_rectify}, {none});
  for (const HalfModifiers& modifiers : {none, flush}) {
    add_extrema<Half, false>(table, "min", modifiers);
    add_extrema<Half, true>(table, "max", modifiers);
  }
  add_extrema<Bfloat16, false>(table, "min", none);
  add_extrema<Bfloat16, true>(table, "max", none);
  add<ExponentialBase2, Half, Half>(table, "ex2.approx");
  // bfloat16 has only a form that flushes; its subnormal numbers are those of binary32.
  add<ExponentialBase2, Bfloat16, Bfloat16>(table, "ex2.approx", flush);
}

}  // namespace convladder::simulated
