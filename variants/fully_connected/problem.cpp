// output[o] = sum over i of weights[o][i] * input[i], plus bias[o]. The magnitude is the sum of |w * x|, plus |bias|:
// float32 errs by a small multiple of 2^-24 times this in any order.
#include <cmath>

#include "variants/accuracy.hpp"
#include "variants/layer_problem.hpp"
#include "variants/layer_shapes.hpp"

namespace convladder {
namespace {

class FullyConnected final : public LayerProblem {
 public:
  std::string_view name() const override { return "fully-connected"; }
  std::string_view title() const override { return "fully connected"; }
  std::vector<std::string> default_sizes() const override { return {"C24H12W12M160B1"}; }
  std::vector<Dimension> dimensions() const override {
    std::vector<Dimension> all = image_dimensions();
    all.push_back({"M", "out_features", std::nullopt});
    all.push_back({"B", "bias", 0, 0, 1});
    return all;
  }
  ActivationShape output_image(const ProblemSize& size) const override { return {size.values.at(3), 1, 1}; }
  bool has_weights() const override { return true; }
  std::vector<ProblemTensor> constants(const ProblemSize& size) const override {
    const std::int64_t outputs = output_elements(size);
    std::vector<ProblemTensor> tensors{{"weights", input_elements(size) * outputs}};
    if (fully_connected_layer(size).has_bias) tensors.push_back({"bias", outputs});
    return tensors;
  }
  double float32_tolerance() const override { return tolerance::fully_connected; }
  double flop(const ProblemSize& size) const override {
    return 2.0 * static_cast<double>(input_elements(size)) * static_cast<double>(output_elements(size));
  }

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    const FullyConnectedLayer layer = fully_connected_layer(size);
    const float* const input = item.input();
    const float* const weights = item.constant();
    const float* const bias = bias_of(layer, item);
    const auto inputs = static_cast<std::size_t>(layer.inputs);
    const int outputs = layer.outputs;
    ReferenceOutput result{std::vector<double>(outputs), std::vector<double>(outputs)};
#pragma omp parallel for schedule(static)
    for (int o = 0; o < outputs; ++o) {
      double sum = layer.has_bias ? bias[o] : 0.0;
      double magnitude = std::abs(sum);
      for (std::size_t i = 0; i < inputs; ++i) {
        const double product = double{weights[o * inputs + i]} * input[i];
        sum += product;
        magnitude += std::abs(product);
      }
      result.value[o] = sum;
      result.magnitude[o] = magnitude;
    }
    return {result};
  }
};

const ProblemRegistration registration(std::make_unique<FullyConnected>());

}  // namespace
}  // namespace convladder
