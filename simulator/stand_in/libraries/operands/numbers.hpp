// Numbers of the libraries' element types on the host.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "support/half.hpp"

namespace convladder::stand_in {

using simulated::Bfloat16;
using simulated::Half;

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
