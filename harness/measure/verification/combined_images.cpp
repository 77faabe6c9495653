#include "harness/measure/verification/combined_images.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/measure/verification/element_comparison.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

constexpr double kDeviations = 8;
constexpr double kFloat64Rounding = 1e-12;  // for sums of some thousand products, relative to their magnitude

std::vector<float> absolute(const float* weights, std::int64_t count) {
  std::vector<float> result(static_cast<std::size_t>(count));
  std::transform(weights, weights + count, result.begin(), [](float w) { return std::abs(w); });
  return result;
}

/// sum(|w|) of each of so many maps.
std::vector<double> filter_sums(const std::vector<float>& weights, int maps) {
  const auto elements = weights.size() / static_cast<std::size_t>(maps);
  std::vector<double> sums;
  for (std::size_t from = 0; from < weights.size(); from += elements) {
    double sum = 0;
    for (std::size_t i = from; i < from + elements; ++i) sum += weights[i];
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace

CombinedImages::CombinedImages(const ProblemSize& size, const float* weights, std::uint64_t secret)
    : size_(size.with_batch(1)),
      weights_(weights),
      random_(secret, 0),
      input_(static_cast<std::size_t>(size_.input_elements())),
      squares_(input_.size()),
      output_(static_cast<std::size_t>(size_.output_elements())) {}

void CombinedImages::begin_image(const float* input) {
  const std::uint64_t bits = random_.next();
  factor_ = (0.5 + static_cast<double>(bits >> 12U) * 0x1p-53) * ((bits & 1U) != 0 ? 1 : -1);
  ++images_;
  const auto elements = static_cast<std::int64_t>(input_.size());
  add_scaled(input_.data(), input, factor_, elements);
  add_scaled_squares(squares_.data(), input, factor_, elements);
}

void CombinedImages::add_output(std::int64_t first, const float* output, std::int64_t count) {
  add_scaled(output_.data() + first, output, factor_, count);
}

std::string CombinedImages::finish(double tolerance) {
  const Problem& problem = *size_.problem;
  const ActivationShape image = problem.output_image(size_);
  const std::vector<float> magnitudes = absolute(weights_, size_.constant_elements());
  const std::vector<double> sums = filter_sums(magnitudes, image.channels);
  std::vector<double> expected(output_.size());
  std::vector<double> bound(output_.size());
  problem.linear_reference(size_, weights_)->sums_of_combination(input_.data(), expected.data());
  problem.linear_reference(size_, magnitudes.data())->sums_of_combination(squares_.data(), bound.data());
  const std::size_t pixels = output_.size() / sums.size();
  std::string failure;
  for (std::size_t i = 0; i < output_.size() && failure.empty(); ++i) {
    const double scale = std::sqrt(sums[i / pixels] * bound[i]);
    const double allowed = (kDeviations * tolerance + kFloat64Rounding * std::sqrt(images_)) * scale;
    const double error = std::abs(output_[i] - expected[i]);
    if (error <= allowed) continue;
    failure = fmt::format(
        "map {}, row {}, column {} is wrong in at least one of {} images that were compared in a random combination: "
        "{:.9g}, expected {:.9g}, allowed error {:.2g}",
        i / pixels, i % pixels / static_cast<std::size_t>(image.width), i % static_cast<std::size_t>(image.width),
        images_, output_[i], expected[i], allowed);
  }
  images_ = 0;
  std::ranges::fill(input_, 0.0);
  std::ranges::fill(squares_, 0.0);
  std::ranges::fill(output_, 0.0);
  return failure;
}

}  // namespace convladder
