// What an operator is asked to do: its layer's type and sizes, and where the tensors are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "variants/activation_shape.hpp"

namespace convladder {

enum class OperatorType {
  max_pool,         ///< the largest of each pool_size x pool_size window, windows pool_stride apart, none cut off
  tanh,             ///< the hyperbolic tangent of every element
  relu,             ///< max(0, x) of every element
  bias,             ///< adds one value per channel
  fully_connected,  ///< output[o] = sum over i of weights[o][i] * input[i], plus bias[o] with has_bias
  softmax,          ///< e^x over the sum of all e^x of the image, whatever its channels, rows and columns
};

/// "max_pool", …: as in network files.
std::string_view operator_type_name(OperatorType type);

/// One layer's operator and sizes. tanh, relu, bias and softmax have input == output.
struct OperatorShape {
  OperatorType type = OperatorType::relu;
  int batch = 1;
  ActivationShape input;   ///< of one image; fully_connected takes it flat, in this order
  ActivationShape output;  ///< of one image; a fully_connected's is {out_features, 1, 1}
  int pool_size = 0;       ///< of a max_pool
  int pool_stride = 0;
  bool has_bias = false;  ///< of a fully_connected; the bias operator always has one

  bool operator==(const OperatorShape&) const = default;
  std::size_t input_elements() const { return input.elements() * static_cast<std::size_t>(batch); }
  std::size_t output_elements() const { return output.elements() * static_cast<std::size_t>(batch); }
  /// Zero for operators without.
  std::size_t weight_elements() const;
  std::size_t bias_elements() const;
};

/// Empty if an operator can be of that shape, otherwise what is wrong with it, in one line. One image, and the
/// weights, have fewer than 2^31 elements: operators index inside them with 32 bits, and over the batch with 64.
std::string operator_shape_error(const OperatorShape& shape);

/// "max_pool C6H60W60 2/2", "fully_connected C24H27W27 to 160 +bias": the shape without its batch.
std::string operator_shape_name(const OperatorShape& shape);

/// Addresses on the device, unless who takes them says otherwise. `weights` [out_features][in_features] and `bias`
/// [channels] or [out_features] are null where the operator has none, and hold their values when `prepare` is called:
/// it may keep them in an order of its own, so that later changes need not be seen. tanh, relu, bias and softmax work
/// in place as well (output == input).
struct OperatorTensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  const float* bias = nullptr;
  float* output = nullptr;
};

}  // namespace convladder
