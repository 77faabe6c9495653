// y[r] = sum over c of a[r][c] * x[c]: a matrix that all items share, and a vector each. The magnitude is the sum of
// |a * x|: float32 errs by a small multiple of 2^-24 times this in any order.
#include "variants/problem.hpp"

#include <cmath>

namespace convladder {
namespace {

class MatrixVector final : public Problem {
 public:
  std::string_view name() const override { return "matrix-vector"; }
  std::string_view title() const override { return "matrix times vector"; }
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

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    ReferenceOutput output;
    const float* a = item.constant();
    const float* const input = item.input();
    for (int row = 0; row < size.at("R"); ++row) {
      double sum = 0;
      double magnitude = 0;
      for (int column = 0; column < size.at("C"); ++column) {
        const double product = double{*a++} * input[column];
        sum += product;
        magnitude += std::abs(product);
      }
      output.value.push_back(sum);
      output.magnitude.push_back(magnitude);
    }
    return {output};
  }
};

const ProblemRegistration registration(std::make_unique<MatrixVector>());

}  // namespace
}  // namespace convladder
