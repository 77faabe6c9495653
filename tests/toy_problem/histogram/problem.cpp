// How often each value is among an image's pixels, and the most frequent one: u8 in, i32 and u8 out, exact.
#include "variants/problem.hpp"

#include <algorithm>

namespace convladder {
namespace {

constexpr int kValues = 256;

class Histogram final : public Problem {
 public:
  std::string_view name() const override { return "histogram"; }
  std::string_view title() const override { return "histogram"; }
  std::vector<Dimension> dimensions() const override { return {{"P", "pixels", std::nullopt}}; }
  std::vector<std::string> default_sizes() const override { return {"P300"}; }

  std::vector<ProblemTensor> inputs(const ProblemSize& size) const override {
    return {{"pixels", size.at("P"), ElementType::u8}};
  }
  std::vector<ProblemTensor> outputs(const ProblemSize& /*size*/) const override {
    return {{"counts", kValues, ElementType::i32}, {"mode", 1, ElementType::u8}};
  }
  double flop(const ProblemSize& size) const override { return size.at("P"); }

  /// The smallest of the most frequent values is the mode.
  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override {
    ReferenceOutput counts{std::vector<double>(kValues), std::vector<double>(kValues)};
    const std::uint8_t* const pixels = item.input<std::uint8_t>();
    for (int i = 0; i < size.at("P"); ++i) ++counts.value[pixels[i]];
    const auto most = std::ranges::max_element(counts.value);
    const auto mode = static_cast<double>(most - counts.value.begin());
    return {counts, {{mode}, {0}}};
  }
};

const ProblemRegistration registration(std::make_unique<Histogram>());

}  // namespace
}  // namespace convladder
