// Numbers of the libraries' element types on the host.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

namespace convladder::stand_in {

/// Half precision as it lies in memory.
struct Half {
  std::uint16_t bits = 0;
};
struct Bfloat16 {
  std::uint16_t bits = 0;
};

inline float widened(Half value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16;
  const std::uint32_t rest = value.bits & 0x7fffU;
  if (rest >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | (rest & 0x3ffU) << 13);  // infinity, NaN
  // The exponent moves from 15 to 127 by a multiplication, which is exact for subnormal numbers as well.
  const float scaled = std::bit_cast<float>(rest << 13) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
}

/// Rounded to the nearest, ties to even.
inline Half to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t rest = bits & 0x7fffffffU;
  std::uint32_t result = 0;
  if (rest > 0x7f800000U) {
    result = 0x7fffU;
  } else if (rest >= 0x477ff000U) {
    result = 0x7c00U;  // what would round to 65536 and more
  } else if (rest < 0x38800000U) {
    // Added to a half, the bits of a subnormal result are the last ones, rounded.
    result = std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  } else {
    result = (rest - 0x38000000U + 0xfffU + (rest >> 13 & 1U)) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | result)};
}

inline float widened(Bfloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

inline Bfloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {0x7fff};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16)};
}

template <typename T>
inline constexpr bool is_complex = false;
template <typename T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// float for std::complex<float>.
template <typename T>
struct RealOf {
  using Type = T;
};
template <typename T>
struct RealOf<std::complex<T>> {
  using Type = T;
};
template <typename T>
using Real = typename RealOf<T>::Type;

/// The type in which sums are added up: their error does not show.
template <typename T>
struct SumOf {
  using Type = std::conditional_t<std::is_same_v<T, float>, double, long double>;
};
template <typename T>
struct SumOf<std::complex<T>> {
  using Type = std::complex<typename SumOf<T>::Type>;
};
template <typename T>
using Sum = typename SumOf<T>::Type;

template <typename T>
T conjugated(T value) {
  if constexpr (is_complex<T>) {
    return std::conj(value);
  } else {
    return value;
  }
}

/// |re| + |im|, by which BLAS compares.
template <typename T>
Real<T> size_of_number(T value) {
  if constexpr (is_complex<T>) {
    return std::abs(value.real()) + std::abs(value.imag());
  } else {
    return std::abs(value);
  }
}

/// A product without what C++ does for infinite complex numbers.
template <typename T>
T times(T a, T b) {
  if constexpr (is_complex<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

}  // namespace convladder::stand_in
