// e^x over the sum of all e^x of the image. The magnitude is 1, the sum of the outputs: an error in a probability
// counts the same whether it is large or small.
#include <algorithm>
#include <cmath>

#include "variants/layer_problem.hpp"

namespace convladder {
namespace {

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

const ProblemRegistration registration(std::make_unique<Softmax>());

}  // namespace
}  // namespace convladder
