// The numbers of NVIDIA's interfaces as C++ knows them.
#pragma once

#include <cuComplex.h>

#include <complex>

namespace convladder::stand_in {

/// float, double and their complex numbers, for the types of an interface.
template <typename T>
struct NumberOf {
  using Type = T;
};
template <>
struct NumberOf<cuComplex> {
  using Type = std::complex<float>;
};
template <>
struct NumberOf<cuDoubleComplex> {
  using Type = std::complex<double>;
};
template <typename T>
using Number = typename NumberOf<T>::Type;

template <typename T>
Number<T>* as_numbers(T* at) {
  return reinterpret_cast<Number<T>*>(at);
}
template <typename T>
const Number<T>* as_numbers(const T* at) {
  return reinterpret_cast<const Number<T>*>(at);
}

}  // namespace convladder::stand_in
