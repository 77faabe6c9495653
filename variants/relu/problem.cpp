// max(0, x) of every element; a NaN stays.

#include "variants/operator_problem.hpp"

namespace convladder {
namespace {

class Relu final : public SameShapeProblem {
 public:
  Relu() : SameShapeProblem(OperatorType::relu) {}
  std::string_view name() const override { return "relu"; }
  std::string_view title() const override { return "ReLU"; }
  std::vector<std::string> default_sizes() const override { return {"C12H66W66"}; }

  ReferenceOutput own_reference(const OperatorShape& shape, const float* input, const float* /*weights*/,
                                const float* /*bias*/) const override {
    ReferenceOutput result = {};
    for (std::size_t i = 0; i < shape.input.elements(); ++i) result.value.push_back(input[i] < 0 ? 0.0 : input[i]);
    result.magnitude.assign(result.value.size(), 0.0);
    return result;
  }
};

const ProblemRegistration registration(std::make_unique<Relu>());

}  // namespace
}  // namespace convladder
