// The bias and the activation of sums, as the CPU's fused variants apply them.
#pragma once

#include <cstddef>

#include "variants/convolution/fused/fused_shape.hpp"
#include "variants/elementary_functions.hpp"

namespace convladder {
namespace detail {

template <typename Added, typename Function>
[[gnu::always_inline]] inline void apply(float* values, std::ptrdiff_t count, const Added& added,
                                         const Function& function) {
#pragma omp simd
  for (std::ptrdiff_t i = 0; i < count; ++i) values[i] = function(values[i] + added(i));
}

}  // namespace detail

/// Computes values[i] = f(values[i] + added(i)), with f being tanh or ReLU; a NaN stays a NaN. Inlined, for whatever
/// instruction set its caller is compiled for.
template <typename Added>
[[gnu::always_inline]] inline void activate(Activation activation, float* values, std::ptrdiff_t count,
                                            const Added& added) {
  if (activation == Activation::tanh) {
    detail::apply(values, count, added, [](float x) { return hyperbolic_tangent(x); });
  } else {
    detail::apply(values, count, added, [](float x) { return x < 0.0F ? 0.0F : x; });
  }
}

}  // namespace convladder
