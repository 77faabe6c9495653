#include "harness/fused/fused_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "devices/cpu/all_cores.hpp"
#include "support/seeded_random.hpp"
#include "variants/fused/reference.hpp"

namespace convladder {
namespace {

constexpr int kChosenFusedImages = 8;  // of those whose convolution is not held

/// Other ones each time, which nobody knows before.
std::set<int> chosen_images(int batch) {
  std::random_device source;
  std::set<int> images;
  for (int i = 0; i < kChosenFusedImages; ++i) {
    images.insert(std::uniform_int_distribution<int>(0, batch - 1)(source));
  }
  return images;
}

}  // namespace

FusedProblem make_fused_problem(const FusedShape& layer, const ConvProblem& convolution, bool whole) {
  FusedProblem problem{.shape = layer, .convolution = convolution, .bias = {}};
  problem.shape.convolution = convolution.shape;
  if (whole) problem.shape.activation = OperatorType::relu;
  if (layer.has_bias) {
    SeededRandom random(1, whole ? 1 : 0);
    for (int map = 0; map < convolution.shape.out_channels; ++map) {
      const int number = random.between(-8, 8);
      problem.bias.push_back(whole ? static_cast<float>(number) : static_cast<float>(number) / 64);
    }
  }
  return problem;
}

StepCheck check_fused_output(const FusedProblem& problem, const ExpectedOutput& expected, const ReadOutput& read,
                             std::int64_t most_elements, const CallSetting& setting, double tolerance) {
  const int batch = problem.shape.convolution.batch;
  const auto elements = static_cast<std::int64_t>(problem.shape.output().elements());
  const std::set<int> chosen = expected.held_images() < batch ? chosen_images(batch) : std::set<int>();
  StepCheck check;
  const int at_once = static_cast<int>(std::clamp<std::int64_t>(most_elements / elements, 1, batch));
  for (int first = 0; first < batch; first += at_once) {
    const int count = std::min(at_once, batch - first);
    const float* const found = read(first * elements, count * elements);
    std::vector<ImageCheck> of_images(static_cast<std::size_t>(count));
    on_all_cores(of_images.size(), [&](std::size_t i) {
      const int image = first + static_cast<int>(i);
      if (setting.change.source(image, batch) >= expected.held_images() && !chosen.contains(image)) return;
      const ReferenceOutput sums = expected.sums(setting, image);
      const float* const output = found + static_cast<std::int64_t>(i) * elements;
      of_images[i] = check_image(reference_fused(problem.shape, sums.value, sums.magnitude,
                                                 problem.bias.empty() ? nullptr : problem.bias.data()),
                                 output, tolerance, setting.fill, image * elements);
    });
    for (int i = 0; i < count; ++i) check.add(first + i, of_images[static_cast<std::size_t>(i)]);
  }
  check.conclude(batch * elements);
  return check;
}

}  // namespace convladder
