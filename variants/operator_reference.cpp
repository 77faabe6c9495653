#include "variants/operator_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace convladder {
namespace {

OperatorReference with_room(std::size_t elements) {
  OperatorReference result;
  result.value.reserve(elements);
  result.magnitude.reserve(elements);
  return result;
}

OperatorReference max_pool(const OperatorShape& shape, const float* input) {
  OperatorReference result = with_room(shape.output.elements());
  const int size = shape.pool_size;
  for (int channel = 0; channel < shape.output.channels; ++channel) {
    for (int row = 0; row < shape.output.height; ++row) {
      for (int column = 0; column < shape.output.width; ++column) {
        const float* const corner =
            input +
            (static_cast<std::int64_t>(channel) * shape.input.height + row * shape.pool_stride) * shape.input.width +
            column * shape.pool_stride;
        float largest = corner[0];
        for (int p = 0; p < size; ++p) {
          for (int q = 0; q < size; ++q) {
            const float value = corner[static_cast<std::int64_t>(p) * shape.input.width + q];
            if (value > largest || std::isnan(value)) largest = value;
          }
        }
        result.value.push_back(largest);
        result.magnitude.push_back(0);
      }
    }
  }
  return result;
}

OperatorReference tanh(const OperatorShape& shape, const float* input) {
  OperatorReference result = with_room(shape.output.elements());
  for (std::size_t i = 0; i < shape.input.elements(); ++i) {
    result.value.push_back(std::tanh(double{input[i]}));
    result.magnitude.push_back(std::abs(result.value.back()));
  }
  return result;
}

OperatorReference relu(const OperatorShape& shape, const float* input) {
  OperatorReference result = with_room(shape.output.elements());
  for (std::size_t i = 0; i < shape.input.elements(); ++i) result.value.push_back(input[i] < 0 ? 0.0 : input[i]);
  result.magnitude.assign(result.value.size(), 0.0);
  return result;
}

OperatorReference add_bias(const OperatorShape& shape, const float* input, const float* bias) {
  OperatorReference result = with_room(shape.output.elements());
  const std::size_t pixels = shape.input.elements() / shape.input.channels;
  for (std::size_t i = 0; i < shape.input.elements(); ++i) {
    const double b = bias[i / pixels];
    result.value.push_back(input[i] + b);
    result.magnitude.push_back(std::abs(input[i]) + std::abs(b));
  }
  return result;
}

OperatorReference fully_connected(const OperatorShape& shape, const float* input, const float* weights,
                                  const float* bias) {
  const std::size_t inputs = shape.input.elements();
  const int outputs = shape.output.channels;
  OperatorReference result{std::vector<double>(outputs), std::vector<double>(outputs)};
#pragma omp parallel for schedule(static)
  for (int o = 0; o < outputs; ++o) {
    double sum = shape.has_bias ? bias[o] : 0.0;
    double magnitude = std::abs(sum);
    for (std::size_t i = 0; i < inputs; ++i) {
      const double product = double{weights[o * inputs + i]} * input[i];
      sum += product;
      magnitude += std::abs(product);
    }
    result.value[o] = sum;
    result.magnitude[o] = magnitude;
  }
  return result;
}

OperatorReference softmax(const OperatorShape& shape, const float* input) {
  const std::size_t classes = shape.input.elements();
  OperatorReference result{std::vector<double>(classes), std::vector<double>(classes, 1.0)};
  const double largest = *std::max_element(input, input + classes);
  double sum = 0;
  for (std::size_t i = 0; i < classes; ++i) sum += result.value[i] = std::exp(input[i] - largest);
  for (double& value : result.value) value /= sum;
  return result;
}

}  // namespace

OperatorReference reference_operator(const OperatorShape& shape, const float* input, const float* weights,
                                     const float* bias) {
  switch (shape.type) {
    case OperatorType::max_pool:
      return max_pool(shape, input);
    case OperatorType::tanh:
      return tanh(shape, input);
    case OperatorType::relu:
      return relu(shape, input);
    case OperatorType::bias:
      return add_bias(shape, input, bias);
    case OperatorType::fully_connected:
      return fully_connected(shape, input, weights, bias);
    case OperatorType::softmax:
      break;
  }
  return softmax(shape, input);
}

std::string operator_mismatch(const OperatorReference& expected, const float* output, double tolerance) {
  std::size_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    const double value = expected.value[i];
    const double error = output[i] == value ? 0 : std::abs(output[i] - value);  // equal infinities have no difference
    const bool right = std::isnan(value) ? std::isnan(output[i]) : error <= tolerance * expected.magnitude[i];
    if (right) continue;
    if (wrong++ == 0) first = fmt::format("element {} is {:.9g}, expected {:.9g}", i, output[i], value);
  }
  if (wrong == 0) return {};
  return fmt::format("{} of {} elements are wrong; {}", wrong, expected.value.size(), first);
}

}  // namespace convladder
