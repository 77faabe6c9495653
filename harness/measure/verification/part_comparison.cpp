#include "harness/measure/verification/part_comparison.hpp"

#include <omp.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "devices/cpu/all_cores.hpp"
#include "harness/measure/verification/combined_images.hpp"
#include "harness/measure/verification/tanh_comparison.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

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

}  // namespace

PartComparison::PartComparison(const VariantPart& part, const std::vector<PlacedTensor>& constants,
                               std::uint64_t secret)
    : part_(part),
      is_connected_layer_(part.size.problem->name() == "fully-connected"),
      random_(secret, 0),
      check_{.step = part.name, .failure = {}} {
  for (const std::size_t place : part.constants) constants_.push_back(constants.at(place));
  // The tolerance is for the number of products in the sums.
  const ProblemSize sums = is_connected_layer_ ? as_convolution(false) : part.size;
  tolerance_ = sums.problem->granted_tolerance(part.tolerance, sums);
}

/// A fully connected layer as a convolution of images of one pixel, with an input of 1 for the bias if `with_bias`.
ProblemSize PartComparison::as_convolution(bool with_bias) const {
  return {&convolution_problem(),
          1,
          {static_cast<int>(inputs()) + (with_bias ? 1 : 0), 1, 1, static_cast<int>(outputs()), 1, 1, 0, 1}};
}

/// The layer's weights, [out][in] with a column more for the bias.
std::vector<float> PartComparison::weights_with_bias() const {
  std::vector<float> result;
  result.reserve((inputs() + 1) * outputs());
  for (std::size_t o = 0; o < outputs(); ++o) {
    const float* const row = constants_[0].as<float>() + o * inputs();
    result.insert(result.end(), row, row + inputs());
    result.push_back(constants_[1].as<float>()[o]);
  }
  return result;
}

void PartComparison::compare(const PartImages& images, int by_element) {
  if (linear()) {
    compare_linear(images, by_element);
  } else {
    std::vector<int> all(static_cast<std::size_t>(images.count));
    std::iota(all.begin(), all.end(), 0);
    compare_by_element(images, all);
  }
  check_.conclude(static_cast<std::int64_t>(outputs()) * check_.compared_images);
}

void PartComparison::compare_linear(const PartImages& images, int by_element) {
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

ImageCheck PartComparison::image_check(const PartImages& images, int image) const {
  const auto at = static_cast<std::size_t>(image);
  const auto elements = static_cast<std::int64_t>(outputs());
  const float* const input = images.input + at * inputs();
  const float* const output = images.output + at * outputs();
  const Problem& problem = *part_.size.problem;
  if (problem.name() == "tanh") {
    // Outputs well within the tolerance are right; about all others the reference has the last word.
    const double error = max_tanh_error(input, output, elements);
    if (error < 0.999 * tolerance_) return {.compared = true, .max_scaled_error = error, .failure = {}};
  }
  ProblemTensors item;
  item.inputs = {{problem.inputs(part_.size).front(), const_cast<float*>(input)}};  // inputs are only read
  item.constants = constants_;
  return check_image(problem.reference(part_.size, item).front(), output, tolerance_, images.fill,
                     (images.first + image) % images.chunk * elements);
}

void PartComparison::compare_by_element(const PartImages& images, const std::vector<int>& which) {
  std::vector<ImageCheck> found(which.size());
  side_by_side(which.size(), [&](std::size_t i) { found[i] = image_check(images, which[i]); });
  for (std::size_t i = 0; i < which.size(); ++i) check_.add(images.first + which[i], found[i]);
}

/// Checks random combinations of the images. Empty if their outputs may all be right.
std::string PartComparison::combination_failure(const PartImages& images, const std::vector<int>& which,
                                                std::uint64_t secret) const {
  const std::size_t elements = inputs();
  CombinedImages combined(is_connected_layer_ ? as_convolution(has_bias()) : part_.size,
                          with_bias_.empty() ? constants_[0].as<float>() : with_bias_.data(), secret);
  std::vector<float> with_one(with_bias_.empty() ? 0 : elements + 1, 1.0F);
  for (const int image : which) {
    const auto at = static_cast<std::size_t>(image);
    const float* input = images.input + at * elements;
    if (!with_one.empty()) {
      std::copy_n(input, elements, with_one.begin());
      input = with_one.data();
    }
    combined.begin_image(input);
    combined.add_output(0, images.output + at * outputs(), static_cast<std::int64_t>(outputs()));
  }
  return combined.finish(tolerance_);
}

void PartComparison::compare_combined(const PartImages& images, const std::vector<std::vector<int>>& groups) {
  if (groups.empty()) return;
  if (is_connected_layer_ && has_bias() && with_bias_.empty()) with_bias_ = weights_with_bias();
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
