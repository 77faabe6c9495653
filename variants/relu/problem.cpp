// max(0, x) of every element; a NaN stays.

#include "variants/layer_problem.hpp"

namespace convladder {
namespace {

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

const ProblemRegistration registration(std::make_unique<Relu>());

}  // namespace
}  // namespace convladder
