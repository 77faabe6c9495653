// d = a * b + c of matrices in f16, with a result in f32. The magnitude is the sum of |a * b| and |c|.
#include "variants/problem.hpp"

#include <cmath>

namespace convladder {
namespace {

class ProductSum final : public Problem {
 public:
  std::string_view name() const override { return "product-sum"; }
  std::string_view title() const override { return "product and sum"; }
  std::vector<Dimension> dimensions() const override {
    return {{"M", "rows", std::nullopt}, {"N", "columns", std::nullopt}, {"K", "products", std::nullopt}};
  }
  std::vector<std::string> default_sizes() const override { return {"M7N9K5"}; }

  std::vector<ProblemTensor> inputs(const ProblemSize& size) const override {
    const std::int64_t m = size.at("M");
    const std::int64_t n = size.at("N");
    const std::int64_t k = size.at("K");
    return {{"a", m * k, ElementType::f16}, {"b", k * n, ElementType::f16}, {"c", m * n, ElementType::f16}};
  }
  std::vector<ProblemTensor> outputs(const ProblemSize& size) const override {
    return {{"d", std::int64_t{size.at("M")} * size.at("N")}};
  }
  double flop(const ProblemSize& size) const override { return 2.0 * size.at("M") * size.at("N") * size.at("K"); }

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    const int columns = size.at("N");
    const int products = size.at("K");
    ReferenceOutput d;
    for (int row = 0; row < size.at("M"); ++row) {
      for (int column = 0; column < columns; ++column) {
        double sum = to_double(item.input<Half>(2)[row * columns + column]);
        double magnitude = std::abs(sum);
        for (int i = 0; i < products; ++i) {
          const double product =
              to_double(item.input<Half>(0)[row * products + i]) * to_double(item.input<Half>(1)[i * columns + column]);
          sum += product;
          magnitude += std::abs(product);
        }
        d.value.push_back(sum);
        d.magnitude.push_back(magnitude);
      }
    }
    return {d};
  }
};

const ProblemRegistration registration(std::make_unique<ProductSum>());

}  // namespace
}  // namespace convladder
