#include <fmt/format.h>

#include "variants/fused/fused_variant.hpp"

namespace convladder {

double FusedShape::minimum_bytes() const {
  const double read = static_cast<double>(convolution.input_elements() + convolution.weight_elements()) +
                      (has_bias ? convolution.out_channels : 0);
  return 4.0 * (read + static_cast<double>(output_elements()));
}

std::string fused_shape_name(const FusedShape& shape) {
  std::string name = fmt::format("{}{} + {}", shape_name(shape.convolution), shape.has_bias ? " + bias" : "",
                                 operator_type_name(shape.activation));
  if (shape.pools()) name += fmt::format(" + max_pool {}/{}", shape.pool_size, shape.pool_stride);
  return name;
}

}  // namespace convladder
