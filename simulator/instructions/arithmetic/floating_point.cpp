// Floating point arithmetic in single and double precision (PTX ISA 9.0, 9.7.3), and the fast approximations.
//
// Compiled without contraction: what PTX rounds twice is rounded twice. Results that are NaN are the canonical NaN, as
// on a GPU. The approximations are computed exactly rounded, which lies within the error PTX allows them; a program
// whose result depends on the last bits of an approximation differs between GPUs as well.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "simulator/instructions/arithmetic/float_modifiers.hpp"
#include "simulator/instructions/arithmetic/float_operations.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"
#include "simulator/instructions/arithmetic/packed_float.hpp"

namespace convladder::simulated {
namespace {

using namespace float_operations;  // the names are those of the instructions

struct ReciprocalSquareRoot {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};
/// 2^x to within 2^-51 of its value, for results of single precision: the same bits on every machine, and for all lanes
/// at once, unlike a library's function. Results beyond single precision become 0 or infinity there.
[[gnu::always_inline]] inline double power_of_2(double exponent) {
  constexpr double kShifter = 0x1.8p52;  // in a sum with it, the lower bits hold x, rounded
  // Limits x to -1000..1000 without a branch, which would keep the lanes apart.
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(exponent);
  const auto x = std::bit_cast<double>(std::min(bits & ~kSign, std::bit_cast<std::uint64_t>(1000.0)) | (bits & kSign));
  const double shifted = x + kShifter;
  const double rest = x - (shifted - kShifter);  // -1/2 to 1/2
  // The series of e^(rest ln 2): coefficient k is ln(2)^k / k!; the omitted terms are below 2^-57.
  constexpr double kCoefficients[] = {0x1.816193166d0f9p-40, 0x1.c3bd650fc2986p-36,
                                      0x1.e8cac7351bb25p-32, 0x1.e4cf5158b8ecap-28,
                                      0x1.b5253d395e7c4p-24, 0x1.62c0223a5c824p-20,
                                      0x1.ffcbfc588b0c7p-17, 0x1.430912f86c787p-13,
                                      0x1.5d87fe78a6731p-10, 0x1.3b2ab6fba4e77p-7,
                                      0x1.c6b08d704a0c0p-5,  0x1.ebfbdff82c58fp-3,
                                      0x1.62e42fefa39efp-1,  1.0};
  double power = 0.0;
  [&]<std::size_t... I>(std::index_sequence<I...>) {  // a loop inside the loop over lanes would keep them apart as well
    ((power = power * rest + kCoefficients[I]), ...);
  }
  (std::make_index_sequence<std::size(kCoefficients)>{});
  const auto whole = std::bit_cast<std::uint64_t>(shifted) - std::bit_cast<std::uint64_t>(kShifter);
  const double result = power * std::bit_cast<double>((whole + 1023) << 52);
  return exponent != exponent ? exponent : result;
}
struct ExponentialBase2 {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(power_of_2(static_cast<double>(a)));
  }
};
struct LogarithmBase2 {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(std::log2(static_cast<double>(a)));
  }
};
struct Sine {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(std::sin(static_cast<double>(a)));
  }
};
struct Cosine {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(std::cos(static_cast<double>(a)));
  }
};
struct HyperbolicTangent {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(std::tanh(static_cast<double>(a)));
  }
};

/// div.approx treats a divisor beyond 2^126 as infinite: the quotient is zero, or NaN for an infinite dividend (PTX ISA
/// 9.0, 9.7.3.8). Otherwise it is exact.
struct DivideApproximately {
  static float apply(float a, float b) {
    const float divisor = std::abs(b) > 0x1p126F ? std::copysign(std::numeric_limits<float>::infinity(), b) : b;
    return a / divisor;
  }
};

/// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read the upper 32 bits and give the upper 32 bits of a result.
template <typename Exact>
struct UpperHalf {
  static constexpr std::uint64_t kMask = ~std::uint64_t{0} << 32;
  static double apply(double a) {
    const auto upper = std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & kMask);
    const double result = flushed<true>(Exact::apply(flushed<true>(a != a ? a : upper)));
    return result != result ? std::bit_cast<double>(std::uint64_t{0x7fffffff} << 32)
                            : std::bit_cast<double>(std::bit_cast<std::uint64_t>(result) & kMask);
  }
};

struct Negate {
  template <typename T>
  static T apply(T a) {
    return -a;
  }
};
struct Absolute {
  template <typename T>
  static T apply(T a) {
    return std::abs(a);
  }
};
/// copysign d, a, b: the magnitude of b with the sign of a.
struct CopySign {
  template <typename T>
  static T apply(T a, T b) {
    return std::copysign(b, a);
  }
};

/// The form of an operation with .ftz, which may differ in more than flushed inputs and result.
template <typename Operation>
struct WhenFlushed : std::type_identity<Operation> {};
template <>
struct WhenFlushed<Multiply> : std::type_identity<FlushedBeforeRounding<Multiply>> {};

/// Adds "name[.ftz][.sat].f32".
template <typename Operation, typename T, typename... Arguments>
void add_modified(FormTable& table, const std::string& name, bool with_saturation) {
  const std::string type = fmt::format(".{}", type_suffix<T>());
  add_form<Rounded<Operation, T, false, false>, T, Arguments...>(table, name + type);
  if constexpr (sizeof(T) == 4) {
    using Flushed = typename WhenFlushed<Operation>::type;
    add_form<Rounded<Flushed, T, true, false>, T, Arguments...>(table, name + ".ftz" + type);
    if (!with_saturation) return;
    add_form<Rounded<Operation, T, false, true>, T, Arguments...>(table, name + ".sat" + type);
    add_form<Rounded<Flushed, T, true, true>, T, Arguments...>(table, name + ".ftz.sat" + type);
  }
}

/// Adds "name[.ftz].f32x2".
template <typename Operation, typename... Arguments>
void add_pairs(FormTable& table, const std::string& name) {
  using Flushed = typename WhenFlushed<Operation>::type;
  add_form<OnSinglePairs<Rounded<Operation, float, false, false>>, SinglePair, Arguments...>(table, name + ".f32x2");
  add_form<OnSinglePairs<Rounded<Flushed, float, true, false>>, SinglePair, Arguments...>(table, name + ".ftz.f32x2");
}
/// Adds "name[.sat].f32.f16" and "name[.sat].f32.bf16".
template <typename Operation, typename Element, typename... Arguments>
void add_mixed(FormTable& table, const std::string& name) {
  const std::string type = fmt::format(".f32.{}", Element::kSuffix);
  add_form<OnWidened<Rounded<Operation, float, false, false>>, float, Arguments...>(table, name + type);
  add_form<OnWidened<Rounded<Operation, float, false, true>>, float, Arguments...>(table, name + ".sat" + type);
}

template <typename Element>
void add_mixed_arithmetic(FormTable& table) {
  for (const char* rounding : {"", ".rn"}) {
    add_mixed<Add, Element, Element, float>(table, fmt::format("add{}", rounding));
    add_mixed<Subtract, Element, Element, float>(table, fmt::format("sub{}", rounding));
  }
  add_mixed<FusedMultiplyAdd, Element, Element, Element, float>(table, "fma.rn");
}

void add_pair_arithmetic(FormTable& table) {
  using P = SinglePair;
  for (const char* rounding : {"", ".rn"}) {
    add_pairs<Add, P, P>(table, fmt::format("add{}", rounding));
    add_pairs<Subtract, P, P>(table, fmt::format("sub{}", rounding));
    add_pairs<Multiply, P, P>(table, fmt::format("mul{}", rounding));
  }
  add_pairs<FusedMultiplyAdd, P, P, P>(table, "fma.rn");
}

template <typename T>
void add_arithmetic(FormTable& table) {
  for (const char* rounding : {"", ".rn"}) {  // to nearest even is the default of these three instructions
    add_modified<Add, T, T, T>(table, fmt::format("add{}", rounding), true);
    add_modified<Subtract, T, T, T>(table, fmt::format("sub{}", rounding), true);
    add_modified<Multiply, T, T, T>(table, fmt::format("mul{}", rounding), true);
  }
  add_modified<FusedMultiplyAdd, T, T, T, T>(table, "fma.rn", true);
  add_modified<FusedMultiplyAdd, T, T, T, T>(table, "mad.rn", true);
  add_modified<Divide, T, T, T>(table, "div.rn", false);
  add_modified<Reciprocal, T, T>(table, "rcp.rn", false);
  add_modified<SquareRoot, T, T>(table, "sqrt.rn", false);
  if constexpr (sizeof(T) == 8) add_form<Reciprocal, T, T>(table, "rcp.rn.ftz.f64");  // .ftz changes nothing here
}

template <bool kMaximum>
void add_extrema(FormTable& table, const std::string& name) {
  add_form<Extremum<kMaximum, false, false>, double, double, double>(table, fmt::format("{}.f64", name));
  const auto add = [&]<bool kFlush>(const std::string& start) {
    add_form<Rounded<Extremum<kMaximum, false, false>, float, kFlush, false>, float, float, float>(
        table, fmt::format("{}.f32", start));
    add_form<Rounded<Extremum<kMaximum, true, false>, float, kFlush, false>, float, float, float>(
        table, fmt::format("{}.NaN.f32", start));
    add_form<Rounded<Extremum<kMaximum, false, true>, float, kFlush, false>, float, float, float>(
        table, fmt::format("{}.xorsign.abs.f32", start));
    add_form<Rounded<Extremum<kMaximum, true, true>, float, kFlush, false>, float, float, float>(
        table, fmt::format("{}.NaN.xorsign.abs.f32", start));
  };
  add.template operator()<false>(name);
  add.template operator()<true>(name + ".ftz");
}

/// Minimum or maximum of three numbers, with .abs of their magnitudes.
template <bool kMaximum, bool kNan, bool kMagnitudes>
struct ExtremumOfThree {
  static float apply(float a, float b, float c) {
    using Two = Extremum<kMaximum, kNan, false>;
    if constexpr (kMagnitudes) return Two::apply(Two::apply(std::abs(a), std::abs(b)), std::abs(c));
    return Two::apply(Two::apply(a, b), c);
  }
};

template <bool kMaximum, bool kNan, bool kMagnitudes>
void add_extremum_of_three(FormTable& table, const std::string& name) {
  using Exact = ExtremumOfThree<kMaximum, kNan, kMagnitudes>;
  const std::string how = fmt::format("{}{}.f32", kNan ? ".NaN" : "", kMagnitudes ? ".abs" : "");
  add_form<Rounded<Exact, float, false, false>, float, float, float, float>(table, form_of(name + how, 3));
  add_form<Rounded<Exact, float, true, false>, float, float, float, float>(table, form_of(name + ".ftz" + how, 3));
}
template <bool kMaximum>
void add_extrema_of_three(FormTable& table, const std::string& name) {
  add_extremum_of_three<kMaximum, false, false>(table, name);
  add_extremum_of_three<kMaximum, false, true>(table, name);
  add_extremum_of_three<kMaximum, true, false>(table, name);
  add_extremum_of_three<kMaximum, true, true>(table, name);
}

/// Sign operations change one bit, also of a NaN.
template <typename T>
void add_sign_operations(FormTable& table) {
  const std::string type = fmt::format(".{}", type_suffix<T>());
  add_form<Negate, T, T>(table, "neg" + type);
  add_form<Absolute, T, T>(table, "abs" + type);
  add_form<CopySign, T, T, T>(table, "copysign" + type);
  if constexpr (sizeof(T) == 4) {
    add_form<Rounded<Negate, T, true, false>, T, T>(table, "neg.ftz" + type);
    add_form<Rounded<Absolute, T, true, false>, T, T>(table, "abs.ftz" + type);
  }
}

void add_approximations(FormTable& table) {
  add_modified<DivideApproximately, float, float, float>(table, "div.approx", false);
  add_modified<Divide, float, float, float>(table, "div.full", false);
  add_modified<Reciprocal, float, float>(table, "rcp.approx", false);
  add_modified<SquareRoot, float, float>(table, "sqrt.approx", false);
  add_modified<ReciprocalSquareRoot, float, float>(table, "rsqrt.approx", false);
  add_modified<ExponentialBase2, float, float>(table, "ex2.approx", false);
  add_modified<LogarithmBase2, float, float>(table, "lg2.approx", false);
  add_modified<Sine, float, float>(table, "sin.approx", false);
  add_modified<Cosine, float, float>(table, "cos.approx", false);
  add_form<Rounded<HyperbolicTangent, float, false, false>, float, float>(table, "tanh.approx.f32");
  add_form<UpperHalf<Reciprocal>, double, double>(table, "rcp.approx.ftz.f64");
  add_form<UpperHalf<ReciprocalSquareRoot>, double, double>(table, "rsqrt.approx.ftz.f64");
  add_form<ReciprocalSquareRoot, double, double>(table, "rsqrt.approx.f64");
}

}  // namespace

void add_floating_point_forms(FormTable& table) {
  add_arithmetic<float>(table);
  add_arithmetic<double>(table);
  add_extrema<false>(table, "min");
  add_extrema<true>(table, "max");
  add_extrema_of_three<false>(table, "min");
  add_extrema_of_three<true>(table, "max");
  add_pair_arithmetic(table);
  add_mixed_arithmetic<Half>(table);
  add_mixed_arithmetic<Bfloat16>(table);
  add_sign_operations<float>(table);
  add_sign_operations<double>(table);
  add_approximations(table);
}

}  // namespace convladder::simulated
