// The hyperbolic tangent of every element. It has no cancellation that would magnify an error, so that an output may be
// wrong by a few units in the last place: the magnitude is |tanh x|.
#include <cmath>

#include "variants/operator_problem.hpp"

namespace convladder {
namespace {

class Tanh final : public SameShapeProblem {
 public:
  Tanh() : SameShapeProblem(OperatorType::tanh) {}
  std::string_view name() const override { return "tanh"; }
  std::string_view title() const override { return "tanh"; }
  std::vector<std::string> default_sizes() const override { return {"C12H66W66"}; }
  bool is_exact_on_whole_numbers(const ProblemSize& /*size*/, double /*tolerance*/) const override { return false; }

  ReferenceOutput own_reference(const OperatorShape& shape, const float* input, const float* /*weights*/,
                                const float* /*bias*/) const override {
    ReferenceOutput result = {};
    for (std::size_t i = 0; i < shape.input.elements(); ++i) {
      result.value.push_back(std::tanh(double{input[i]}));
      result.magnitude.push_back(std::abs(result.value.back()));
    }
    return result;
  }
};

const ProblemRegistration registration(std::make_unique<Tanh>());

}  // namespace
}  // namespace convladder
