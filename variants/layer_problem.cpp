#include "variants/layer_problem.hpp"

namespace convladder {

std::vector<Dimension> image_dimensions() {
  return {{"C", "channels", std::nullopt}, {"H", "height", 1}, {"W", "width", 1}};
}

ActivationShape image_of(const ProblemSize& size) { return {size.values.at(0), size.values.at(1), size.values.at(2)}; }

std::string LayerProblem::own_size_error(const ProblemSize& size) const {
  constexpr double kLimit = 2147483648.0;  // in floating point, for it must not overflow
  const auto elements = [](const ActivationShape& a) { return 1.0 * a.channels * a.height * a.width; };
  const double input = elements(image_of(size));
  const double output = elements(output_image(size));
  if (input < kLimit && output < kLimit && (!has_weights() || input * output < kLimit)) return {};
  return "one image or the weights hold 2^31 elements or more";
}

}  // namespace convladder
