// A value for each channel, added to all of its elements. The magnitude is |x| + |bias|.
#include <cmath>

#include "variants/layer_problem.hpp"

namespace convladder {
namespace {

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

const ProblemRegistration registration(std::make_unique<Bias>());

}  // namespace
}  // namespace convladder
