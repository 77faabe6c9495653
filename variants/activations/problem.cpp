// The layers that change each element in place: a bias, ReLU, tanh and softmax.
#include <algorithm>
#include <cmath>

#include "variants/layer_problem.hpp"

namespace convladder {
namespace {

/// A value for each channel, added to all of its elements. The magnitude is |x| + |bias|.
class Bias final : public ElementProblem {
 public:
  std::string_view name() const override { return "bias"; }
  std::string_view title() const override { return "bias"; }
  std::vector<std::string> default_sizes() const override { return {"C12H66W66"}; }

  std::vector<ProblemTensor> constants(const ProblemSize& size) const override {
    return {{"bias", image_of(size).channels}};
  }
  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    const float* const input = item.input();
    ReferenceOutput result = {};
    const float* const bias = item.constant();
    const ActivationShape image = image_of(size);
    const int pixels = image.height * image.width;
    for (std::int64_t i = 0; i < input_elements(size); ++i) {
      const double b = bias[i / pixels];
      result.value.push_back(input[i] + b);
      result.magnitude.push_back(std::abs(input[i]) + std::abs(b));
    }
    return {result};
  }
};

/// max(0, x) of every element; a NaN stays.
class Relu final : public ElementProblem {
 public:
  std::string_view name() const override { return "relu"; }
  std::string_view title() const override { return "ReLU"; }
  std::vector<std::string> default_sizes() const override { return {"C12H66W66"}; }

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    const float* const input = item.input();
    ReferenceOutput result = {};
    for (std::int64_t i = 0; i < input_elements(size); ++i) result.value.push_back(input[i] < 0 ? 0.0 : input[i]);
    result.magnitude.assign(result.value.size(), 0.0);
    return {result};
  }
};

/// The hyperbolic tangent of every element. No cancellation magnifies an error, so an output may only be wrong by a few
/// units in the last place: the magnitude is |tanh x|.
class Tanh final : public ElementProblem {
 public:
  std::string_view name() const override { return "tanh"; }
  std::string_view title() const override { return "tanh"; }
  std::vector<std::string> default_sizes() const override { return {"C12H66W66"}; }
  bool is_exact_on_whole_numbers(const ProblemSize& /*size*/, double /*tolerance*/) const override { return false; }

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    const float* const input = item.input();
    ReferenceOutput result = {};
    for (std::int64_t i = 0; i < input_elements(size); ++i) {
      result.value.push_back(std::tanh(double{input[i]}));
      result.magnitude.push_back(std::abs(result.value.back()));
    }
    return {result};
  }
};

/// e^x over the sum of all e^x of the image. The magnitude is 1, the sum of the outputs: an error in a probability
/// counts the same whether it is large or small.
class Softmax final : public ElementProblem {
 public:
  std::string_view name() const override { return "softmax"; }
  std::string_view title() const override { return "softmax"; }
  std::vector<std::string> default_sizes() const override { return {"C10", "C1000"}; }
  bool is_exact_on_whole_numbers(const ProblemSize& /*size*/, double /*tolerance*/) const override { return false; }

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    const float* const input = item.input();
    const auto classes = static_cast<std::size_t>(input_elements(size));
    ReferenceOutput result{std::vector<double>(classes), std::vector<double>(classes, 1.0)};
    const double largest = *std::max_element(input, input + classes);
    double sum = 0;
    for (std::size_t i = 0; i < classes; ++i) sum += result.value[i] = std::exp(input[i] - largest);
    for (double& value : result.value) value /= sum;
    return {result};
  }
};

const ProblemRegistration bias_registration(std::make_unique<Bias>());
const ProblemRegistration relu_registration(std::make_unique<Relu>());
const ProblemRegistration tanh_registration(std::make_unique<Tanh>());
const ProblemRegistration softmax_registration(std::make_unique<Softmax>());

}  // namespace
}  // namespace convladder
