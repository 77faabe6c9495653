#include "harness/measure/networks/step_comparison.hpp"

#include <omp.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "devices/cpu/all_cores.hpp"
#include "harness/measure/verification/combined_images.hpp"
#include "harness/measure/verification/tanh_comparison.hpp"
#include "variants/accuracy.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

bool is_connected_layer(const NetworkStep& step) {
  return step.kind == StepKind::layer_operator && step.is_fully_connected();
}

/// A fully connected layer as a convolution of images of one pixel, with an input of 1 for the bias if `with_bias`.
ProblemSize as_convolution(const NetworkStep& step, bool with_bias) {
  const int inputs = static_cast<int>(step.input().elements()) + (with_bias ? 1 : 0);
  return {&convolution_problem(), 1, {inputs, 1, 1, step.output.channels, 1, 1, 0, 1}};
}

/// The layer's weights, [out][in] with a column more for the bias.
std::vector<float> weights_with_bias(const LayerWeights& weights) {
  const std::size_t outputs = weights.bias.size();
  const std::size_t inputs = weights.weights.size() / outputs;
  std::vector<float> result;
  result.reserve(weights.weights.size() + outputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    const float* const row = weights.weights.data() + o * inputs;
    result.insert(result.end(), row, row + inputs);
    result.push_back(weights.bias[o]);
  }
  return result;
}

/// Calls `work` for every index below `count`: if there are enough of them, each on a core of its own, otherwise one
/// after the other, each on all cores.
void side_by_side(std::size_t count, const std::function<void(std::size_t)>& work) {
  const int cores = omp_get_max_threads();
  if (count < static_cast<std::size_t>(cores)) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  on_all_cores(count, [&](std::size_t i) {
    omp_set_num_threads(1);  // for this thread
    work(i);
  });
  omp_set_num_threads(cores);
}

/// A step's tolerance for the number of products in its sums.
double granted(const NetworkStep& step) {
  const ProblemSize size = is_connected_layer(step) ? as_convolution(step, false) : step.size;
  return size.problem->granted_tolerance(step.tolerance(), size);
}

}  // namespace

StepComparison::StepComparison(const NetworkStep& step, const LayerWeights& weights, std::uint64_t secret)
    : step_(step),
      weights_(weights),
      tolerance_(granted(step)),
      random_(secret, 0),
      check_{.step = step.name, .failure = {}} {}

bool StepComparison::linear() const { return step_.kind == StepKind::convolution || is_connected_layer(step_); }

void StepComparison::compare(const StepImages& images, int by_element) {
  if (linear()) {
    compare_linear(images, by_element);
  } else {
    std::vector<int> all(static_cast<std::size_t>(images.count));
    std::iota(all.begin(), all.end(), 0);
    compare_by_element(images, all);
  }
  check_.conclude(static_cast<std::int64_t>(step_.output.elements()) * check_.compared_images);
}

void StepComparison::compare_linear(const StepImages& images, int by_element) {
  std::vector<int> order(static_cast<std::size_t>(images.count));
  std::iota(order.begin(), order.end(), 0);
  const auto chosen = static_cast<std::size_t>(std::clamp(by_element, 1, images.count));
  for (std::size_t i = 0; i < chosen && chosen < order.size(); ++i) {
    const int other = random_.between(static_cast<int>(i), images.count - 1);
    std::swap(order[i], order[static_cast<std::size_t>(other)]);
  }
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(chosen);
  std::sort(order.begin(), middle);
  compare_by_element(images, {order.begin(), middle});
  std::vector<std::vector<int>> groups;
  for (std::size_t first = chosen; first < order.size(); first += CombinedImages::kMost) {
    const std::size_t end = std::min(order.size(), first + CombinedImages::kMost);
    groups.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(first),
                        order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  compare_combined(images, groups);
}

ImageCheck StepComparison::image_check(const StepImages& images, int image) const {
  const auto at = static_cast<std::size_t>(image);
  const auto elements = static_cast<std::int64_t>(step_.output.elements());
  const float* const input = images.input + at * step_.input().elements();
  const float* const output = images.output + image * elements;
  if (step_.kind == StepKind::layer_operator && step_.source->type == LayerType::tanh) {
    // Outputs well within the tolerance are right; about all others the reference has the last word.
    const double error = max_tanh_error(input, output, elements);
    if (error < 0.999 * tolerance_) return {.compared = true, .max_scaled_error = error, .failure = {}};
  }
  const ProblemTensors item = step_tensors(step_.size, weights_, input, nullptr);
  return check_image(step_.size.problem->reference(step_.size, item).front(), output, tolerance_, images.fill,
                     (images.first + image) % images.chunk * elements);
}

void StepComparison::compare_by_element(const StepImages& images, const std::vector<int>& which) {
  std::vector<ImageCheck> found(which.size());
  side_by_side(which.size(), [&](std::size_t i) { found[i] = image_check(images, which[i]); });
  for (std::size_t i = 0; i < which.size(); ++i) check_.add(images.first + which[i], found[i]);
}

/// Checks random combinations of the images. Empty if their outputs may all be right.
std::string StepComparison::combination_failure(const StepImages& images, const std::vector<int>& which,
                                                std::uint64_t secret) const {
  const std::size_t elements = step_.input().elements();
  CombinedImages combined(is_connected_layer(step_) ? as_convolution(step_, step_.source->bias) : step_.size,
                          with_bias_.empty() ? weights_.weights.data() : with_bias_.data(), secret);
  std::vector<float> with_one(with_bias_.empty() ? 0 : elements + 1, 1.0F);
  for (const int image : which) {
    const auto at = static_cast<std::size_t>(image);
    const float* input = images.input + at * elements;
    if (!with_one.empty()) {
      std::copy_n(input, elements, with_one.begin());
      input = with_one.data();
    }
    combined.begin_image(input);
    combined.add_output(0, images.output + at * step_.output.elements(),
                        static_cast<std::int64_t>(step_.output.elements()));
  }
  return combined.finish(tolerance_);
}

void StepComparison::compare_combined(const StepImages& images, const std::vector<std::vector<int>>& groups) {
  if (groups.empty()) return;
  if (is_connected_layer(step_) && step_.source->bias && with_bias_.empty()) {
    with_bias_ = weights_with_bias(weights_);
  }
  const std::uint64_t secret = random_.next();
  std::vector<std::string> failures(groups.size());
  side_by_side(groups.size(), [&](std::size_t i) { failures[i] = combination_failure(images, groups[i], secret + i); });
  for (std::size_t i = 0; i < groups.size(); ++i) {
    check_.combined_images += static_cast<int>(groups[i].size());
    if (failures[i].empty() || !check_.passed()) continue;
    compare_by_element(images, groups[i]);  // finds the image
    if (check_.passed()) check_.failure = failures[i];
  }
}

}  // namespace convladder
