// y = tanh(A x): a problem whose variants may have parts that are problems of their own, as a network has layers. The
// slope of tanh is at most 1, so that an error of the product is at most as large behind it.
#include "variants/problem.hpp"

#include <cmath>

namespace convladder {
namespace {

class TwoLayers final : public Problem {
 public:
  std::string_view name() const override { return "two-layers"; }
  std::string_view title() const override { return "matrix times vector, tanh"; }
  std::vector<Dimension> dimensions() const override {
    return {{"R", "rows", std::nullopt}, {"C", "columns", std::nullopt}};
  }
  std::vector<std::string> default_sizes() const override { return {"R64C48"}; }

  std::int64_t input_elements(const ProblemSize& size) const override { return size.at("C"); }
  std::int64_t output_elements(const ProblemSize& size) const override { return size.at("R"); }
  std::vector<ProblemTensor> constants(const ProblemSize& size) const override {
    return {{"matrix", std::int64_t{size.at("R")} * size.at("C")}};
  }
  double flop(const ProblemSize& size) const override { return 2.0 * size.at("R") * size.at("C"); }
  bool is_exact_on_whole_numbers(const ProblemSize& /*size*/, double /*tolerance*/) const override { return false; }

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    const Problem& product = built_in_problem("matrix-vector");
    ReferenceOutput output = product.reference({&product, 1, size.values}, item).front();
    for (std::size_t i = 0; i < output.value.size(); ++i) {
      output.value[i] = std::tanh(output.value[i]);
      output.magnitude[i] += 2 * std::abs(output.value[i]);
    }
    return {output};
  }
};

const ProblemRegistration registration(std::make_unique<TwoLayers>());

}  // namespace
}  // namespace convladder
