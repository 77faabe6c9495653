#include "variants/convolution/fused/reference.hpp"

#include <algorithm>
#include <cmath>

#include "variants/accuracy.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

double activated(Activation activation, double x) {
  if (activation == Activation::tanh) return std::tanh(x);
  return x < 0 ? 0 : x;  // a NaN stays a NaN
}

}  // namespace

ReferenceOutput reference_fused(const FusedShape& shape, const float* input, const float* weights, const float* bias) {
  const auto [value, magnitude] = reference_convolution(shape.convolution, input, weights);
  const int height = shape.convolution.out_height();
  const int width = shape.convolution.out_width();
  const double own_error = shape.activation == Activation::tanh ? double{tolerance::tanh} / kFloat32Tolerance : 0.0;
  ReferenceOutput result;
  for (int map = 0; map < shape.convolution.out_channels; ++map) {
    const double added = shape.has_bias ? bias[map] : 0.0;
    for (int row = 0; row < shape.pooled_height(); ++row) {
      for (int column = 0; column < shape.pooled_width(); ++column) {
        double largest = -std::numeric_limits<double>::infinity();
        double scale = 0;
        for (int p = 0; p < shape.pool_size; ++p) {
          for (int q = 0; q < shape.pool_size; ++q) {
            const std::size_t at = (static_cast<std::size_t>(map) * height + row * shape.pool_stride + p) * width +
                                   column * shape.pool_stride + q;
            const double element = activated(shape.activation, value[at] + added);
            if (element > largest || std::isnan(element)) largest = element;
            scale = std::max(scale, magnitude[at]);
          }
        }
        result.value.push_back(largest);
        result.magnitude.push_back(scale + std::abs(added) + own_error * std::abs(largest));
      }
    }
  }
  return result;
}

}  // namespace convladder
