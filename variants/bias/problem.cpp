// A value for each channel, added to all of its elements. The magnitude is |x| + |bias|.
#include <cmath>

#include "variants/operator_problem.hpp"

namespace convladder {
namespace {

class Bias final : public SameShapeProblem {
 public:
  Bias() : SameShapeProblem(OperatorType::bias) {}
  std::string_view name() const override { return "bias"; }
  std::string_view title() const override { return "bias"; }
  std::vector<std::string> default_sizes() const override { return {"C12H66W66"}; }

  ReferenceOutput own_reference(const OperatorShape& shape, const float* input, const float* /*weights*/,
                                const float* bias) const override {
    ReferenceOutput result = {};
    const std::size_t pixels = shape.input.elements() / shape.input.channels;
    for (std::size_t i = 0; i < shape.input.elements(); ++i) {
      const double b = bias[i / pixels];
      result.value.push_back(input[i] + b);
      result.magnitude.push_back(std::abs(input[i]) + std::abs(b));
    }
    return result;
  }
};

const ProblemRegistration registration(std::make_unique<Bias>());

}  // namespace
}  // namespace convladder
