// output[o] = sum over i of weights[o][i] * input[i], plus bias[o]. The magnitude is the sum of |w * x|, plus |bias|:
// float32 errs by a small multiple of 2^-24 times this in any order.
#include <fmt/format.h>

#include <cmath>

#include "variants/operator_problem.hpp"

namespace convladder {
namespace {

class FullyConnected final : public OperatorProblem {
 public:
  FullyConnected() : OperatorProblem(OperatorType::fully_connected) {}
  std::string_view name() const override { return "fully-connected"; }
  std::string_view title() const override { return "fully connected"; }
  std::vector<std::string> default_sizes() const override { return {"C24H12W12M160B1"}; }
  std::vector<Dimension> dimensions() const override {
    std::vector<Dimension> all = image_dimensions();
    all.push_back({"M", "out_features", std::nullopt});
    all.push_back({"B", "bias", 0, 0, 1});
    return all;
  }
  OperatorShape operator_shape(const ProblemSize& size) const override {
    return {.type = type(),
            .batch = size.batch,
            .input = image_of(size),
            .output = {size.at("M"), 1, 1},
            .has_bias = size.at("B") != 0};
  }
  std::vector<int> other_values(const OperatorShape& shape) const override {
    return {shape.output.channels, shape.has_bias ? 1 : 0};
  }
  std::string own_shape_error(const OperatorShape& shape) const override {
    if (shape.output.height == 1 && shape.output.width == 1) return {};
    return fmt::format("the output of a fully_connected is Cx1x1, not C{}H{}W{}", shape.output.channels,
                       shape.output.height, shape.output.width);
  }
  double flop(const ProblemSize& size) const override {
    return 2.0 * static_cast<double>(input_elements(size)) * static_cast<double>(output_elements(size));
  }

  ReferenceOutput own_reference(const OperatorShape& shape, const float* input, const float* weights,
                                const float* bias) const override {
    const std::size_t inputs = shape.input.elements();
    const int outputs = shape.output.channels;
    ReferenceOutput result{std::vector<double>(outputs), std::vector<double>(outputs)};
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
};

const ProblemRegistration registration(std::make_unique<FullyConnected>());

}  // namespace
}  // namespace convladder
