#include "harness/fused_problem.hpp"

#include <fmt/format.h>

#include <cmath>

#include "datasets/seeded_random.hpp"
#include "harness/verify.hpp"
#include "network/fused/reference.hpp"

namespace convladder {

FusedProblem make_fused_problem(const FusedShape& layer, const Problem& convolution, bool whole) {
  FusedProblem problem{.shape = layer, .convolution = &convolution, .bias = {}, .reference = {}};
  problem.shape.convolution = convolution.shape;
  if (whole) problem.shape.activation = OperatorType::relu;
  if (layer.has_bias) {
    SeededRandom random(1, whole ? 1 : 0);
    for (int map = 0; map < convolution.shape.out_channels; ++map) {
      const int number = random.between(-8, 8);
      problem.bias.push_back(whole ? static_cast<float>(number) : static_cast<float>(number) / 64);
    }
  }
  const auto elements = static_cast<std::size_t>(convolution.shape.output_elements_per_image());
  for (std::size_t i = 0; i < convolution.compared_images.size(); ++i) {
    problem.reference.push_back(reference_fused(problem.shape, convolution.reference.subspan(i * elements, elements),
                                                convolution.magnitude.subspan(i * elements, elements),
                                                problem.bias.empty() ? nullptr : problem.bias.data()));
  }
  return problem;
}

StepCheck check_fused_output(Device& device, const FusedProblem& problem, const float* output, double tolerance) {
  const std::vector<int>& images = problem.convolution->compared_images;
  StepCheck check{.step = {}, .compared_images = static_cast<int>(images.size()), .failure = {}};
  const std::int64_t unwritten = count_poison(device, output, problem.shape.output_elements());
  if (unwritten > 0) {
    check.failure =
        fmt::format("{} of {} output elements were never written", unwritten, problem.shape.output_elements());
  }
  std::vector<float> values(problem.shape.output().elements());
  for (std::size_t i = 0; i < images.size(); ++i) {
    device.copy_to_host(values.data(), output + static_cast<std::size_t>(images[i]) * values.size(),
                        values.size() * sizeof(float));
    const double error = max_scaled_error(problem.reference[i], values.data());
    if (!std::isnan(check.max_scaled_error) && !(error <= check.max_scaled_error)) check.max_scaled_error = error;
    const std::string mismatch = operator_mismatch(problem.reference[i], values.data(), tolerance);
    if (!mismatch.empty() && check.failure.empty()) check.failure = fmt::format("image {}: {}", images[i], mismatch);
  }
  return check;
}

}  // namespace convladder
