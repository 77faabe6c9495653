// Floating point arithmetic in single and double precision (PTX ISA 9.0, 9.7.3), and the fast approximations.
//
// Compiled without contraction: what PTX rounds twice is rounded twice. Results that are NaN are the canonical NaN, as
// on a GPU. The approximations are computed exactly rounded, which lies within the error PTX allows them; a program
// whose result depends on the last bits of an approximation differs between GPUs as well.

#include <cmath>
#include <limits>
#include <numbers>

#include "devices/simulated/execution/lane_functions.hpp"

namespace convladder::simulated {
namespace {

template <typename T>
T canonical(T value) {
  if constexpr (sizeof(T) == 4) {
    return value != value ? std::bit_cast<T>(0x7fffffffU) : value;
  } else {
    return value;  // double precision keeps the payload
  }
}

/// .ftz: subnormal inputs and results become zeros of their sign.
template <bool kFlush, typename T>
T flushed(T value) {
  if constexpr (kFlush) {
    return std::abs(value) < std::numeric_limits<T>::min() ? std::copysign(T{0}, value) : value;
  }
  return value;
}

/// .sat: clamped to 0..1, NaN becomes 0.
template <bool kSaturate, typename T>
T saturated(T value) {
  if constexpr (kSaturate) return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
  return value;
}

/// Wraps an operation with what its modifiers do to inputs and results.
template <typename Operation, typename T, bool kFlush, bool kSaturate>
struct Rounded {
  template <typename... Arguments>
  static T apply(Arguments... arguments) {
    return saturated<kSaturate>(canonical(flushed<kFlush>(Operation::apply(flushed<kFlush>(arguments)...))));
  }
};

struct Add {
  template <typename T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <typename T>
  static T apply(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <typename T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct FusedMultiplyAdd {
  template <typename T>
  static T apply(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct Divide {
  template <typename T>
  static T apply(T a, T b) {
    return a / b;
  }
};
struct Reciprocal {
  template <typename T>
  static T apply(T a) {
    return T{1} / a;
  }
};
struct SquareRoot {
  template <typename T>
  static T apply(T a) {
    return std::sqrt(a);
  }
};
struct ReciprocalSquareRoot {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};
struct ExponentialBase2 {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(std::exp2(static_cast<double>(a)));
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

/// If one input is NaN the result is the other; -0 is less than +0.
struct Minimum {
  template <typename T>
  static T apply(T a, T b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
struct Maximum {
  template <typename T>
  static T apply(T a, T b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? b : a;
    return a < b ? b : a;
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

/// Adds "name[.ftz][.sat].f32".
template <typename Operation, typename T, typename... Arguments>
void add_modified(FormTable& table, const std::string& name, bool with_saturation) {
  const std::string type = fmt::format(".{}", type_suffix<T>());
  add_form<Rounded<Operation, T, false, false>, T, Arguments...>(table, name + type);
  if constexpr (sizeof(T) == 4) {
    add_form<Rounded<Operation, T, true, false>, T, Arguments...>(table, name + ".ftz" + type);
    if (!with_saturation) return;
    add_form<Rounded<Operation, T, false, true>, T, Arguments...>(table, name + ".sat" + type);
    add_form<Rounded<Operation, T, true, true>, T, Arguments...>(table, name + ".ftz.sat" + type);
  }
}

template <typename T>
void add_arithmetic(FormTable& table) {
  for (const char* rounding : {"", ".rn"}) {  // to nearest even is the default of these three
    add_modified<Add, T, T, T>(table, fmt::format("add{}", rounding), true);
    add_modified<Subtract, T, T, T>(table, fmt::format("sub{}", rounding), true);
    add_modified<Multiply, T, T, T>(table, fmt::format("mul{}", rounding), true);
  }
  add_modified<FusedMultiplyAdd, T, T, T, T>(table, "fma.rn", true);
  add_modified<FusedMultiplyAdd, T, T, T, T>(table, "mad.rn", true);
  add_modified<Divide, T, T, T>(table, "div.rn", false);
  add_modified<Reciprocal, T, T>(table, "rcp.rn", false);
  add_modified<SquareRoot, T, T>(table, "sqrt.rn", false);
  add_modified<Minimum, T, T, T>(table, "min", false);
  add_modified<Maximum, T, T, T>(table, "max", false);
}

/// Sign operations: they change one bit, also of a NaN.
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
  add_modified<Divide, float, float, float>(table, "div.approx", false);
  add_modified<Divide, float, float, float>(table, "div.full", false);
  add_modified<Reciprocal, float, float>(table, "rcp.approx", false);
  add_modified<SquareRoot, float, float>(table, "sqrt.approx", false);
  add_modified<ReciprocalSquareRoot, float, float>(table, "rsqrt.approx", false);
  add_modified<ExponentialBase2, float, float>(table, "ex2.approx", false);
  add_modified<LogarithmBase2, float, float>(table, "lg2.approx", false);
  add_modified<Sine, float, float>(table, "sin.approx", false);
  add_modified<Cosine, float, float>(table, "cos.approx", false);
  add_form<Rounded<HyperbolicTangent, float, false, false>, float, float>(table, "tanh.approx.f32");
}

}  // namespace

void add_floating_point_forms(FormTable& table) {
  add_arithmetic<float>(table);
  add_arithmetic<double>(table);
  add_sign_operations<float>(table);
  add_sign_operations<double>(table);
  add_approximations(table);
}

}  // namespace convladder::simulated
