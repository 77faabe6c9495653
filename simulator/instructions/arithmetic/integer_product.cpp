// Further integer arithmetic: 24-bit and byte products, sums of differences, saturation, pairs of 16-bit numbers
// (PTX ISA 9.0, 9.7.1).

#include <algorithm>
#include <limits>

#include "simulator/instructions/arithmetic/integer_types.hpp"
#include "simulator/instructions/arithmetic/lane_functions.hpp"

namespace convladder::simulated {
namespace {

template <typename T>
T wrapped_sum(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}

/// .sat: clamped to the type's range.
std::int32_t clamped(std::int64_t value) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(value, kLeast, kMost));
}

struct SaturatingAdd {
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return clamped(std::int64_t{a} + b); }
};
struct SaturatingSubtract {
  static std::int32_t apply(std::int32_t a, std::int32_t b) { return clamped(std::int64_t{a} - b); }
};
struct SaturatingMultiplyAddHigh {
  static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
    return clamped(((std::int64_t{a} * b) >> 32) + c);
  }
};

/// The 48-bit product of the low 24 bits; PTX expects the upper 8 bits to extend them.
template <typename T>
std::int64_t product_24(T a, T b) {
  const auto low_24 = [](T value) {
    return static_cast<std::int64_t>(static_cast<T>(static_cast<std::uint32_t>(value) << 8) >> 8);
  };
  return low_24(a) * low_24(b);
}
template <typename T>
struct MultiplyLow24 {
  static T apply(T a, T b) { return static_cast<T>(product_24(a, b)); }
};
template <typename T>
struct MultiplyHigh24 {
  static T apply(T a, T b) { return static_cast<T>(product_24(a, b) >> 16); }
};
template <typename T>
struct MultiplyAddLow24 {
  static T apply(T a, T b, T c) { return wrapped_sum(MultiplyLow24<T>::apply(a, b), c); }
};
template <typename T>
struct MultiplyAddHigh24 {
  static T apply(T a, T b, T c) { return wrapped_sum(MultiplyHigh24<T>::apply(a, b), c); }
};
struct SaturatingMultiplyAddHigh24 {
  static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
    return clamped((product_24(a, b) >> 16) + c);
  }
};

/// sad: c + |a - b|
template <typename T>
struct SumOfAbsoluteDifference {
  static T apply(T a, T b, T c) {
    using U = Unsigned<T>;
    const auto distance =
        static_cast<U>(a < b ? static_cast<U>(b) - static_cast<U>(a) : static_cast<U>(a) - static_cast<U>(b));
    return wrapped_sum(c, static_cast<T>(distance));
  }
};

/// Element i of `kWidth` bits, sign-extended for a signed type.
template <typename T, unsigned kWidth>
std::int64_t element(T packed, unsigned i) {
  const std::uint32_t up = static_cast<std::uint32_t>(packed) << (32 - kWidth * (i + 1));
  return static_cast<std::int64_t>(static_cast<T>(up) >> (32 - kWidth));
}

/// dp4a: c plus the products of four pairs of bytes. dp2a: c plus the products of two 16-bit numbers with the lower or
/// upper two bytes.
template <typename A, typename B>
struct DotProduct4 {
  static std::uint32_t apply(A a, B b, std::uint32_t c) {
    for (unsigned i = 0; i < 4; ++i) c += static_cast<std::uint32_t>(element<A, 8>(a, i) * element<B, 8>(b, i));
    return c;
  }
};
template <typename A, typename B, unsigned kFirst>
struct DotProduct2 {
  static std::uint32_t apply(A a, B b, std::uint32_t c) {
    for (unsigned i = 0; i < 2; ++i) {
      c += static_cast<std::uint32_t>(element<A, 16>(a, i) * element<B, 8>(b, kFirst + i));
    }
    return c;
  }
};

// Operations on each half of 32 bits.
struct AddEach {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct MinimumEach {
  template <typename T>
  static T apply(T a, T b) {
    return std::min(a, b);
  }
};
struct MaximumEach {
  template <typename T>
  static T apply(T a, T b) {
    return std::max(a, b);
  }
};
/// .relu: negative results become zero.
template <typename Each>
struct Rectified {
  template <typename T>
  static T apply(T a, T b) {
    return std::max(Each::apply(a, b), T{0});
  }
};

template <typename Each, typename T>
struct EachHalf {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    const auto half = [&](unsigned shift) {
      const T result = Each::apply(static_cast<T>(a >> shift), static_cast<T>(b >> shift));
      return std::uint32_t{static_cast<std::uint16_t>(result)} << shift;
    };
    return half(0) | half(16);
  }
};

template <typename T>
void add_24_bit_products(FormTable& table) {
  const std::string type = fmt::format(".{}", type_suffix<T>());
  add_form<MultiplyLow24<T>, T, T, T>(table, "mul24.lo" + type);
  add_form<MultiplyHigh24<T>, T, T, T>(table, "mul24.hi" + type);
  add_form<MultiplyAddLow24<T>, T, T, T, T>(table, "mad24.lo" + type);
  add_form<MultiplyAddHigh24<T>, T, T, T, T>(table, "mad24.hi" + type);
}

template <typename T>
void add_sum_of_absolute_difference(FormTable& table) {
  add_form<SumOfAbsoluteDifference<T>, T, T, T, T>(table, fmt::format("sad.{}", type_suffix<T>()));
}

template <typename A, typename B>
void add_dot_products(FormTable& table) {
  using U = std::uint32_t;
  const std::string types = fmt::format(".{}.{}", type_suffix<A>(), type_suffix<B>());
  add_form<DotProduct4<A, B>, U, A, B, U>(table, "dp4a" + types);
  add_form<DotProduct2<A, B, 0>, U, A, B, U>(table, "dp2a.lo" + types);
  add_form<DotProduct2<A, B, 2>, U, A, B, U>(table, "dp2a.hi" + types);
}

template <typename T>
void add_pairs(FormTable& table) {
  using U = std::uint32_t;
  const std::string type = fmt::format(".{}x2", type_suffix<T>());
  add_form<EachHalf<AddEach, T>, U, U, U>(table, "add" + type);
  add_form<EachHalf<MinimumEach, T>, U, U, U>(table, "min" + type);
  add_form<EachHalf<MaximumEach, T>, U, U, U>(table, "max" + type);
  if constexpr (std::is_signed_v<T>) {
    add_form<EachHalf<Rectified<MinimumEach>, T>, U, U, U>(table, "min.relu" + type);
    add_form<EachHalf<Rectified<MaximumEach>, T>, U, U, U>(table, "max.relu" + type);
  }
}

}  // namespace

void add_integer_product_forms(FormTable& table) {
  using S = std::int32_t;
  add_form<SaturatingAdd, S, S, S>(table, "add.sat.s32");
  add_form<SaturatingSubtract, S, S, S>(table, "sub.sat.s32");
  add_form<SaturatingMultiplyAddHigh, S, S, S, S>(table, "mad.hi.sat.s32");
  add_form<SaturatingMultiplyAddHigh24, S, S, S, S>(table, "mad24.hi.sat.s32");
  add_form<Rectified<MinimumEach>, S, S, S>(table, "min.relu.s32");
  add_form<Rectified<MaximumEach>, S, S, S>(table, "max.relu.s32");
  add_24_bit_products<std::int32_t>(table);
  add_24_bit_products<std::uint32_t>(table);
  add_sum_of_absolute_difference<std::int16_t>(table);
  add_sum_of_absolute_difference<std::uint16_t>(table);
  add_sum_of_absolute_difference<std::int32_t>(table);
  add_sum_of_absolute_difference<std::uint32_t>(table);
  add_sum_of_absolute_difference<std::int64_t>(table);
  add_sum_of_absolute_difference<std::uint64_t>(table);
  add_dot_products<std::int32_t, std::int32_t>(table);
  add_dot_products<std::int32_t, std::uint32_t>(table);
  add_dot_products<std::uint32_t, std::int32_t>(table);
  add_dot_products<std::uint32_t, std::uint32_t>(table);
  add_pairs<std::int16_t>(table);
  add_pairs<std::uint16_t>(table);
}

}  // namespace convladder::simulated
