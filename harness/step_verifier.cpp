#include "harness/step_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/poison.hpp"
#include "network/fused/reference.hpp"
#include "network/operators/reference.hpp"
#include "variants/reference.hpp"

namespace convladder {
namespace {

OperatorReference reference_of(const NetworkStep& step, const LayerWeights& weights, const float* input) {
  if (step.layer_operator != nullptr) {
    return reference_operator(step.shape, input, weights.weights.empty() ? nullptr : weights.weights.data(),
                              weights.bias.empty() ? nullptr : weights.bias.data());
  }
  if (step.fused != nullptr) {
    return reference_fused(step.fused_shape, input, weights.weights.data(),
                           weights.bias.empty() ? nullptr : weights.bias.data());
  }
  ReferenceOutput output = reference_convolution(step.source->convolution, input, weights.weights.data());
  return {std::move(output.value), std::move(output.magnitude)};
}

}  // namespace

void StepVerifier::before(const NetworkStep& step, int images, const float* input, float* output) {
  device_.wait();
  input_.resize(step.input().elements() * static_cast<std::size_t>(std::min(images, most_images_)));
  device_.copy_to_host(input_.data(), input, input_.size() * sizeof(float));
  if (!step.in_place()) poison(device_, output, step.output().elements() * static_cast<std::size_t>(images));
}

void StepVerifier::after(const NetworkStep& step, int images, float* output) {
  StepCheck check{.step = step.name, .failure = {}};
  const std::size_t elements = step.output().elements();
  const std::int64_t unwritten =
      step.in_place() ? 0 : count_poison(device_, output, elements * static_cast<std::size_t>(images));
  if (unwritten > 0) {
    check.failure = fmt::format("{} of {} output elements were never written", unwritten,
                                elements * static_cast<std::size_t>(images));
  }
  static const LayerWeights none;
  const LayerWeights& weights = has_weights(*step.source) ? weights_.layers.at(step.source->name) : none;
  std::vector<float> values(elements);
  for (int image = 0; image < std::min(images, most_images_); ++image) {
    const OperatorReference expected =
        reference_of(step, weights, input_.data() + static_cast<std::size_t>(image) * step.input().elements());
    device_.copy_to_host(values.data(), output + static_cast<std::size_t>(image) * elements, elements * sizeof(float));
    check.add(image, check_image(expected, values.data(), step.tolerance(), {}, 0));
  }
  checks_.push_back(std::move(check));
}

std::string StepVerifier::first_failure() const {
  for (const StepCheck& check : checks_) {
    if (!check.passed()) return fmt::format("{}: {}", check.step, check.failure);
  }
  return {};
}

}  // namespace convladder
