#include <fmt/format.h>

#include "network/fused/fused_variant.hpp"

namespace convladder {

double FusedShape::minimum_bytes() const {
  const double read = static_cast<double>(convolution.input_elements() + convolution.weight_elements()) +
                      (has_bias ? convolution.out_channels : 0);
  return 4.0 * (read + static_cast<double>(output_elements()));
}

std::string fused_shape_name(const FusedShape& shape) {
  return fmt::format("{}{} + {} + max_pool {}/{}", shape_name(shape.convolution), shape.has_bias ? " + bias" : "",
                     operator_type_name(shape.activation), shape.pool_size, shape.pool_stride);
}

std::optional<FusedShape> fused_shape(const Network& network, std::size_t layer) {
  if (layer + kFusedLayers > network.layers.size()) return std::nullopt;
  const Layer& convolution = network.layers[layer];
  const Layer& activation = network.layers[layer + 1];
  const Layer& pooling = network.layers[layer + 2];
  const bool activates = activation.type == LayerType::tanh || activation.type == LayerType::relu;
  if (convolution.type != LayerType::convolution || !activates || pooling.type != LayerType::max_pool) {
    return std::nullopt;
  }
  return FusedShape{.convolution = convolution.convolution.with_batch(1),
                    .has_bias = convolution.bias,
                    .activation = activation.type == LayerType::tanh ? OperatorType::tanh : OperatorType::relu,
                    .pool_size = pooling.pool_size,
                    .pool_stride = pooling.pool_stride};
}

}  // namespace convladder
