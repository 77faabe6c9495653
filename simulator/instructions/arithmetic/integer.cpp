// Integer arithmetic, logic and shifts (PTX ISA 9.0, 9.7.1, 9.7.8).

#include <limits>

#include "simulator/instructions/arithmetic/integer_types.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"

namespace convladder::simulated {
namespace {

// Arithmetic wraps around, so it is done on unsigned types, where C++ defines that.

template <typename T>
struct Add {
  static T apply(T a, T b) { return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b)); }
};
template <typename T>
struct Subtract {
  static T apply(T a, T b) { return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b)); }
};

/// The product's lower half. The factors are widened first: two uint16_t would be promoted to int, which could
/// overflow.
template <typename T>
struct MultiplyLow {
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<std::uint64_t>(static_cast<Unsigned<T>>(a)) * static_cast<Unsigned<T>>(b));
  }
};

template <typename T>
struct MultiplyHigh {
  static T apply(T a, T b) {
    using W = typename Wider<T>::type;
    return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> (8 * sizeof(T)));
  }
};
template <typename T>
struct MultiplyWide {
  using W = typename Wider<T>::type;
  static W apply(T a, T b) { return static_cast<W>(static_cast<W>(a) * static_cast<W>(b)); }
};
template <typename T>
struct MultiplyAddLow {
  static T apply(T a, T b, T c) { return Add<T>::apply(MultiplyLow<T>::apply(a, b), c); }
};
template <typename T>
struct MultiplyAddHigh {
  static T apply(T a, T b, T c) { return Add<T>::apply(MultiplyHigh<T>::apply(a, b), c); }
};
template <typename T>
struct MultiplyAddWide {
  using W = typename Wider<T>::type;
  static W apply(T a, T b, W c) { return Add<W>::apply(MultiplyWide<T>::apply(a, b), c); }
};

/// Division by zero is unspecified in PTX; GPUs give all ones, and so does this function.
template <typename T>
struct Divide {
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Subtract<T>::apply(0, a);  // the negation of the most negative number wraps
    }
    return static_cast<T>(a / b);
  }
};
template <typename T>
struct Remainder {
  static T apply(T a, T b) {
    if (b == 0) return a;  // a - all ones * 0
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};

template <typename T>
struct Minimum {
  static T apply(T a, T b) { return a < b ? a : b; }
};
template <typename T>
struct Maximum {
  static T apply(T a, T b) { return a < b ? b : a; }
};
template <typename T>
struct Negate {
  static T apply(T a) { return Subtract<T>::apply(0, a); }
};
template <typename T>
struct Absolute {
  static T apply(T a) { return a < 0 ? Negate<T>::apply(a) : a; }
};

template <typename T>
struct And {
  static T apply(T a, T b) { return a & b; }
};
template <typename T>
struct Or {
  static T apply(T a, T b) { return a | b; }
};
template <typename T>
struct Xor {
  static T apply(T a, T b) { return a ^ b; }
};
template <typename T>
struct Not {
  static T apply(T a) { return static_cast<T>(~a); }
};

/// Shift amounts are unsigned 32-bit numbers; those beyond the width are clamped to it.
template <typename T>
struct ShiftLeft {
  static T apply(T a, std::uint32_t by) { return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << by); }
};
template <typename T>
struct ShiftRight {
  static T apply(T a, std::uint32_t by) {
    constexpr std::uint32_t width = 8 * sizeof(T);
    if (by >= width) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> by);
  }
};

template <typename T>
void add_arithmetic(FormTable& table) {
  const std::string type = fmt::format(".{}", type_suffix<T>());
  add_form<Add<T>, T, T, T>(table, "add" + type);
  add_form<Subtract<T>, T, T, T>(table, "sub" + type);
  add_form<MultiplyLow<T>, T, T, T>(table, "mul.lo" + type);
  add_form<MultiplyHigh<T>, T, T, T>(table, "mul.hi" + type);
  add_form<MultiplyAddLow<T>, T, T, T, T>(table, "mad.lo" + type);
  add_form<MultiplyAddHigh<T>, T, T, T, T>(table, "mad.hi" + type);
  add_form<Divide<T>, T, T, T>(table, "div" + type);
  add_form<Remainder<T>, T, T, T>(table, "rem" + type);
  add_form<Minimum<T>, T, T, T>(table, "min" + type);
  add_form<Maximum<T>, T, T, T>(table, "max" + type);
  add_form<ShiftRight<T>, T, T, std::uint32_t>(table, "shr" + type);
  if constexpr (sizeof(T) < 8) {
    using W = typename Wider<T>::type;
    add_form<MultiplyWide<T>, W, T, T>(table, "mul.wide" + type);
    add_form<MultiplyAddWide<T>, W, T, T, W>(table, "mad.wide" + type);
  }
  if constexpr (std::is_signed_v<T>) {
    add_form<Negate<T>, T, T>(table, "neg" + type);
    add_form<Absolute<T>, T, T>(table, "abs" + type);
  }
}

template <typename T>
void add_logic(FormTable& table) {
  const std::string type = fmt::format(".b{}", 8 * sizeof(T));
  add_form<And<T>, T, T, T>(table, "and" + type);
  add_form<Or<T>, T, T, T>(table, "or" + type);
  add_form<Xor<T>, T, T, T>(table, "xor" + type);
  add_form<Not<T>, T, T>(table, "not" + type);
  add_form<ShiftLeft<T>, T, T, std::uint32_t>(table, "shl" + type);
  add_form<ShiftRight<T>, T, T, std::uint32_t>(table, "shr" + type);
}

}  // namespace

void add_integer_forms(FormTable& table) {
  add_arithmetic<std::int16_t>(table);
  add_arithmetic<std::uint16_t>(table);
  add_arithmetic<std::int32_t>(table);
  add_arithmetic<std::uint32_t>(table);
  add_arithmetic<std::int64_t>(table);
  add_arithmetic<std::uint64_t>(table);
  add_logic<std::uint16_t>(table);
  add_logic<std::uint32_t>(table);
  add_logic<std::uint64_t>(table);
}

}  // namespace convladder::simulated
