// y = a * x + y in f64, in place: y goes in and out, and a is one number for all items.
#include "variants/problem.hpp"

#include <algorithm>
#include <cmath>

namespace convladder {
namespace {

constexpr double kFloat64Tolerance = 1e-15;

class ScaledAddition final : public Problem {
 public:
  std::string_view name() const override { return "scaled-addition"; }
  std::string_view title() const override { return "scaled addition"; }
  std::vector<Dimension> dimensions() const override { return {{"N", "elements", std::nullopt}}; }
  std::vector<std::string> default_sizes() const override { return {"N100"}; }

  std::vector<ProblemTensor> inputs(const ProblemSize& size) const override {
    return {{"x", size.at("N"), ElementType::f64}};
  }
  std::vector<ProblemTensor> outputs(const ProblemSize& /*size*/) const override { return {}; }
  std::vector<ProblemTensor> in_outs(const ProblemSize& size) const override {
    return {{"y", size.at("N"), ElementType::f64}};
  }
  std::vector<ProblemTensor> constants(const ProblemSize& /*size*/) const override {
    return {{"a", 1, ElementType::f64}};
  }
  double flop(const ProblemSize& size) const override { return 2.0 * size.at("N"); }
  double granted_tolerance(double wanted, const ProblemSize& /*size*/) const override {
    return std::min(wanted, kFloat64Tolerance);
  }

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    const double a = item.constant<double>()[0];
    ReferenceOutput sum;
    for (int i = 0; i < size.at("N"); ++i) {
      const double product = a * item.input<double>()[i];
      const double before = item.in_out<double>()[i];
      sum.value.push_back(product + before);
      sum.magnitude.push_back(std::abs(product) + std::abs(before));
    }
    return {sum};
  }
};

const ProblemRegistration registration(std::make_unique<ScaledAddition>());

}  // namespace
}  // namespace convladder
