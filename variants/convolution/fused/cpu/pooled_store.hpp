// Pooling, bias and activation of complete sums, as the CPU's fused variants apply them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "variants/convolution/fused/fused_shape.hpp"
#include "variants/elementary_functions.hpp"
#include "variants/max_pooling/cpu/row_pooling.hpp"

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

/// The pooling, the bias and the activation of complete sums.
class PooledStore {
 public:
  /// `bias` is null where the shape has none; it is copied.
  PooledStore(const FusedShape& shape, const float* bias)
      : pooling_(shape.pool_size, shape.pool_stride, shape.convolution.out_width()),
        activation_(shape.activation),
        bias_(bias, bias + (shape.has_bias ? shape.convolution.out_channels : 0)) {}

  /// Floats of scratch memory, written at least once before, that `store` needs for `rows` pooled rows.
  int scratch(int rows) const { return pooling_.scratch(rows); }

  /// Computes `rows` pooled rows of a map from its sums, whose rows are `pitch` floats apart. Inlined, for whatever
  /// instruction set its caller is compiled for.
  [[gnu::always_inline]] void store(std::int64_t map, const float* sums, std::ptrdiff_t pitch, int rows, float* scratch,
                                    float* output) const {
    pooling_.pool(sums, pitch, rows, scratch, output);
    const int count = rows * pooling_.pooled_width();
    const float added = bias_.empty() ? 0.0F : bias_[static_cast<std::size_t>(map)];
    activate(activation_, output, count, [added](std::ptrdiff_t) { return added; });
  }

 private:
  RowPooling pooling_;
  Activation activation_;
  std::vector<float> bias_;
};

}  // namespace convladder
