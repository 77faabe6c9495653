#include <fmt/format.h>

#include "variants/operator_problem.hpp"

namespace convladder {
namespace {

bool is_positive(const ActivationShape& shape) { return shape.channels > 0 && shape.height > 0 && shape.width > 0; }

std::string sizes(const ActivationShape& shape) {
  return fmt::format("C{}H{}W{}", shape.channels, shape.height, shape.width);
}

}  // namespace

std::string_view operator_type_name(OperatorType type) {
  switch (type) {
    case OperatorType::max_pool:
      return "max_pool";
    case OperatorType::tanh:
      return "tanh";
    case OperatorType::relu:
      return "relu";
    case OperatorType::bias:
      return "bias";
    case OperatorType::fully_connected:
      return "fully_connected";
    case OperatorType::softmax:
      return "softmax";
  }
  return "unknown";
}

std::size_t OperatorShape::weight_elements() const {
  return type == OperatorType::fully_connected ? input.elements() * output.elements() : 0;
}

std::size_t OperatorShape::bias_elements() const {
  const bool biased = type == OperatorType::bias || (type == OperatorType::fully_connected && has_bias);
  return biased ? static_cast<std::size_t>(output.channels) : 0;
}

std::string operator_shape_error(const OperatorShape& shape) {
  if (shape.batch < 1 || !is_positive(shape.input) || !is_positive(shape.output)) {
    return fmt::format("batch, channels, height and width must be at least 1, they are {}, {} and {}", shape.batch,
                       sizes(shape.input), sizes(shape.output));
  }
  constexpr double limit = 2147483648.0;  // in floating point, for it must not overflow
  const auto elements = [](const ActivationShape& a) { return 1.0 * a.channels * a.height * a.width; };
  const bool has_weights = shape.type == OperatorType::fully_connected;
  if (elements(shape.input) >= limit || elements(shape.output) >= limit ||
      (has_weights && elements(shape.input) * elements(shape.output) >= limit)) {
    return "one image or the weights hold 2^31 elements or more";
  }
  return operator_problem(shape.type).own_shape_error(shape);
}

std::string operator_shape_name(const OperatorShape& shape) {
  std::string name = fmt::format("{} {}", operator_type_name(shape.type), sizes(shape.input));
  if (shape.type == OperatorType::max_pool) name += fmt::format(" {}/{}", shape.pool_size, shape.pool_stride);
  if (shape.type == OperatorType::fully_connected) {
    name += fmt::format(" to {}{}", shape.output.channels, shape.has_bias ? " +bias" : "");
  }
  return name;
}

}  // namespace convladder
