// The hyperbolic tangent of every element. No cancellation magnifies an error, so an output may only be wrong by a few
// units in the last place: the magnitude is |tanh x|.
#include <cmath>

#include "variants/layer_problem.hpp"

namespace convladder {
namespace {

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

const ProblemRegistration registration(std::make_unique<Tanh>());

}  // namespace
}  // namespace convladder
