#include "harness/measure/verification/expected_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "devices/cpu/all_cores.hpp"
#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/verification/combined_images.hpp"
#include "harness/measure/verification/element_comparison.hpp"
#include "harness/measure/verification/fresh_input.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

constexpr std::size_t kBytesOfAnElement = sizeof(double) + sizeof(float);
constexpr double kMemoryShare = 0.25;
constexpr int kChosenImages = 8;  // images that are not held but compared in full, other ones each time
// Where each call has an input of its own, no reference is held: as many images are compared in full as cost so many
// operations, and one combination of others. Of two images, both in full cost no more.
constexpr double kFreshFlop = 5e6;

int chosen_of_fresh(const ProblemSize& size) {
  const double affordable = kFreshFlop / std::max(size.with_batch(1).flop(), 1.0);
  const int fewest = size.batch <= 2 ? size.batch : 1;
  return static_cast<int>(std::clamp(affordable, double{1} * fewest, double{1} * size.batch));
}

/// A call of a problem: its images, and the changes of their sums.
class Call {
 public:
  Call(const ExpectedOutput& expected, const CallSetting& setting)
      : problem_(expected.problem()),
        reference_(expected.reference()),
        layout_(problem_.shape),
        setting_(setting),
        poked_(setting.change.poked(setting.call, layout_)) {}

  /// An image as the call found it.
  std::vector<float> input(int image) const {
    std::vector<float> input(static_cast<std::size_t>(layout_.elements_per_image()));
    write_image_of_call(input.data(), setting_.change, layout_, problem_.input().data(), image, setting_.call);
    return input;
  }

  /// The expected output of an image, computed from the input that the call found.
  ReferenceOutput output(int image) const {
    const std::vector<float> found = input(image);
    ProblemTensors item;
    item.inputs = {{problem_.given.front().tensor, const_cast<float*>(found.data())}};
    item.constants = problem_.placed_constants();
    return problem_.shape.problem->reference(problem_.shape, item).front();
  }

  /// Adds the changes by poked input elements: the sums that they are in change by delta * w.
  void add_pokes(int image, int map, double* value, float* magnitude) const {
    if (setting_.change.pokes == 0) return;
    const double factor = setting_.change.factor;
    const float* const from =
        problem_.input().data() + setting_.change.source(image, layout_.batch) * layout_.elements_per_image();
    const double now = setting_.change.poked_value(setting_.call, layout_).of(image);
    poked_.for_each(layout_, [&](int row, int column, std::int64_t element) {
      const double before = factor * from[element];
      const ElementChange change{.channel = poked_.channel,
                                 .row = row,
                                 .column = column,
                                 .value = now - before,
                                 .absolute = std::abs(now) - std::abs(before)};
      reference_.add_change(change, map, value, magnitude);
    });
  }

 private:
  const ProblemData& problem_;
  const LinearReference& reference_;
  InputLayout layout_;
  const CallSetting& setting_;
  PokedElements poked_;
};

/// The result for one map of one image.
struct MapFound {
  double max_scaled_error = 0;
  std::int64_t unwritten = 0;
  std::int64_t not_finite = 0;
  std::int64_t compared = 0;
  std::string first_failure;
};

/// One comparison from its first map to its last.
class Comparison {
 public:
  Comparison(const ExpectedOutput& expected, const CallSetting& setting, double tolerance)
      : expected_(expected),
        size_(expected.problem().shape),
        output_(size_.problem->output_image(size_)),
        setting_(setting),
        tolerance_(tolerance),
        pixels_(std::int64_t{output_.height} * output_.width),
        call_(expected, setting) {
    choose_images();
  }

  Check run(const ReadTensor& read, std::int64_t most_elements) {
    for (std::size_t i = 0; i < looked_at_.size();) {
      const std::size_t begin = i;
      while (++i < looked_at_.size() && looked_at_[i] == looked_at_[i - 1] + 1) {
      }
      if (!compare_images(read, most_elements, looked_at_[begin], static_cast<int>(i - begin))) return {};
    }
    finish_combination();
    if (setting_.change.fresh && !check_.first_failure.empty() && check_.max_scaled_error <= tolerance_) {
      name_image(read, most_elements);
    }
    return conclude();
  }

 private:
  /// Says which image of a combination that is wrong is wrong itself, and where.
  void name_image(const ReadTensor& read, std::int64_t most_elements) {
    const std::string of_combination = std::exchange(check_.first_failure, {});
    for (const int image : looked_at_) {
      const ReferenceOutput reference = call_.output(image);
      chosen_ = {};
      chosen_[image] = {reference.value, {reference.magnitude.begin(), reference.magnitude.end()}};
      if (!compare_images(read, most_elements, image, 1) || !check_.first_failure.empty()) break;
    }
    if (check_.first_failure.empty()) check_.first_failure = of_combination;
  }

  int source(int image) const { return setting_.change.source(image, size_.batch); }
  bool held(int image) const { return !setting_.change.fresh && source(image) < expected_.held_images(); }

  /// Draws the images that are looked at, and those that are compared in full though no reference is held of them.
  void choose_images() {
    SeededRandom random(secret_number(), 0);
    looked_at_.resize(static_cast<std::size_t>(size_.batch));
    std::iota(looked_at_.begin(), looked_at_.end(), 0);
    const bool is_fresh = setting_.change.fresh;
    const int chosen = is_fresh ? chosen_of_fresh(size_) : kChosenImages;
    const int most_fresh = chosen + CombinedImages::kMost;
    if (is_fresh && size_.batch > most_fresh) {
      shuffle(looked_at_, random);
      looked_at_.resize(static_cast<std::size_t>(most_fresh));
      std::ranges::sort(looked_at_);
    }
    std::vector<int> others;
    for (const int image : looked_at_) {
      if (!held(image)) others.push_back(image);
    }
    for (int i = 0; i < chosen && !others.empty(); ++i) {
      const auto at = static_cast<std::size_t>(random.between(0, static_cast<int>(others.size()) - 1));
      const ReferenceOutput reference = call_.output(others[at]);
      chosen_[others[at]] = {reference.value, {reference.magnitude.begin(), reference.magnitude.end()}};
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  /// Returns false if the output cannot be read.
  bool compare_images(const ReadTensor& read, std::int64_t most_elements, int first_image, int images) {
    const std::int64_t end = (std::int64_t{first_image} + images) * output_.channels;
    const std::int64_t at_once = std::max<std::int64_t>(most_elements / pixels_, 1);
    for (std::int64_t first = std::int64_t{first_image} * output_.channels; first < end; first += at_once) {
      const std::int64_t count = std::min(at_once, end - first);
      const float* const found = static_cast<const float*>(read("output", first * pixels_, count * pixels_));
      if (found == nullptr) return false;
      compare_maps(first, count, found);
    }
    return true;
  }

  void compare_maps(std::int64_t first, std::int64_t count, const float* found) {
    std::vector<MapFound> of_maps(static_cast<std::size_t>(count));
    const std::int64_t piece = std::max<std::int64_t>(1, 65536 / pixels_);  // worth starting threads only for more than
                                                                            // a few maps
    const auto pieces = static_cast<std::size_t>((count - 1) / piece + 1);
    const auto compare_piece = [&](std::size_t index) {
      const auto begin = static_cast<std::int64_t>(index) * piece;
      for (std::int64_t i = begin; i < std::min(count, begin + piece); ++i) {
        compare_map(first + i, found + i * pixels_, of_maps[static_cast<std::size_t>(i)]);
      }
    };
    if (pieces > 1) {
      on_all_cores(pieces, compare_piece);
    } else {
      compare_piece(0);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      add(of_maps[static_cast<std::size_t>(i)]);
      combine(first + i, found + i * pixels_);
    }
  }

  void compare_map(std::int64_t of_batch, const float* found, MapFound& result) const {
    const int image = static_cast<int>(of_batch / output_.channels);
    const int map = static_cast<int>(of_batch % output_.channels);
    const std::int64_t at = map * pixels_;
    if (held(image)) {
      const std::int64_t in_reference = source(image) * (output_.channels * pixels_) + at;
      const ExpectedElements elements{expected_.value().data() + in_reference,
                                      expected_.magnitude().data() + in_reference, setting_.change.factor,
                                      std::abs(setting_.change.factor)};
      if (setting_.change.pokes == 0) return compare_elements(image, map, found, elements, result);
      thread_local std::vector<double> value;
      thread_local std::vector<float> magnitude;
      value.resize(static_cast<std::size_t>(pixels_));
      magnitude.resize(static_cast<std::size_t>(pixels_));
      const auto magnitude_factor = static_cast<float>(elements.magnitude_factor);
      for (std::size_t i = 0; i < value.size(); ++i) {
        value[i] = elements.value_factor * elements.value[i];
        magnitude[i] = magnitude_factor * elements.magnitude[i];
      }
      call_.add_pokes(image, map, value.data(), magnitude.data());
      return compare_elements(image, map, found, {value.data(), magnitude.data()}, result);
    }
    if (const auto chosen = chosen_.find(image); chosen != chosen_.end()) {
      return compare_elements(image, map, found,
                              {chosen->second.value.data() + at, chosen->second.magnitude.data() + at}, result);
    }
  }

  void compare_elements(int image, int map, const float* found, const ExpectedElements& elements,
                        MapFound& result) const {
    result.compared = pixels_;
    result.max_scaled_error = max_scaled_error(found, elements, pixels_);
    if (result.max_scaled_error <= (1 - kScaledErrorAccuracy) * tolerance_) return;
    // Something is wrong or nearly so: now element by element, and in doubles, which have the last word.
    result.max_scaled_error = 0;
    const std::int64_t first = (std::int64_t{image} * output_.channels + map) * pixels_;
    for (std::int64_t i = 0; i < pixels_; ++i) {
      if (!std::isfinite(found[i])) ++result.not_finite;
      const double scaled = scaled_error(found[i], elements, i);
      take_larger(result.max_scaled_error, scaled);
      if (scaled <= tolerance_) continue;
      const bool left = setting_.fill.left_at(first + i, found[i]);
      result.unwritten += left ? 1 : 0;
      if (!result.first_failure.empty()) continue;
      result.first_failure = fmt::format(
          "image {}, map {}, row {}, column {} {}, expected {:.9g} (error {:.2g} of sum|x*w|; allowed: {:.2g})", image,
          map, i / output_.width, i % output_.width,
          left ? "is as it was before the call" : fmt::format("is {:.9g}", found[i]),
          elements.value_factor * elements.value[i], scaled, tolerance_);
    }
  }

  /// Takes the larger error. A NaN is taken over and stays.
  static void take_larger(double& largest, double error) {
    if (!std::isnan(largest) && !(error <= largest)) largest = error;
  }

  /// Adds the result for a map to the check.
  void add(const MapFound& found) {
    take_larger(check_.max_scaled_error, found.max_scaled_error);
    check_.unwritten += found.unwritten;
    check_.not_finite += found.not_finite;
    check_.compared += found.compared;
    if (check_.first_failure.empty()) check_.first_failure = found.first_failure;
  }

  void combine(std::int64_t of_batch, const float* found) {
    const int image = static_cast<int>(of_batch / output_.channels);
    const int map = static_cast<int>(of_batch % output_.channels);
    if (map == 0 && (held(image) || chosen_.contains(image))) ++check_.images;
    if (held(image) || (setting_.change.fresh && chosen_.contains(image))) return;
    if (!combined_) combined_.emplace(size_, expected_.problem().weights().data(), secret_number());
    if (map == 0) {
      if (combined_->images() == CombinedImages::kMost) finish_combination();
      combined_->begin_image(call_.input(image).data());
      ++check_.combined_images;
    }
    combined_->add_output(map * pixels_, found, pixels_);
  }

  void finish_combination() {
    if (!combined_ || combined_->images() == 0) return;
    const std::string failure = combined_->finish(tolerance_);
    if (check_.first_failure.empty()) check_.first_failure = failure;
  }

  Check conclude() {
    if (check_.unwritten > 0) {
      const std::string unwritten = fmt::format("{} of {} output elements are as they were before the call",
                                                check_.unwritten, size_.output_elements());
      check_.first_failure = check_.first_failure.empty() ? unwritten : unwritten + "; first: " + check_.first_failure;
    }
    check_.passed = check_.first_failure.empty();
    return std::move(check_);
  }

  struct ChosenImage {
    std::vector<double> value;
    std::vector<float> magnitude;
  };

  const ExpectedOutput& expected_;
  const ProblemSize& size_;
  ActivationShape output_;  ///< of one image
  const CallSetting& setting_;
  double tolerance_;
  std::int64_t pixels_;  ///< of a map
  Call call_;
  std::vector<int> looked_at_;  ///< images, in order
  std::map<int, ChosenImage> chosen_;
  std::optional<CombinedImages> combined_;
  Check check_;
};

}  // namespace

std::size_t default_reference_bytes() {
  return static_cast<std::size_t>(kMemoryShare * static_cast<double>(available_memory_bytes()));
}

ExpectedOutput::ExpectedOutput(const ProblemData& problem, std::size_t most_bytes)
    : problem_(problem),
      reference_(problem.shape.problem->linear_reference(problem.shape, problem_.weights().data())),
      elements_(static_cast<std::size_t>(problem.shape.output_elements_per_item())) {
  held_ = static_cast<int>(
      std::min<std::size_t>(static_cast<std::size_t>(batch()), most_bytes / (elements_ * kBytesOfAnElement)));
  const std::size_t all = elements_ * static_cast<std::size_t>(held_);
  value_ = std::make_unique_for_overwrite<double[]>(all);
  magnitude_ = std::make_unique_for_overwrite<float[]>(all);
  reference_->sums(held_, problem_.input().data(), value_.get(), magnitude_.get());
  for (const float x : problem_.input()) largest_input_ = std::max(largest_input_, std::abs(x));
  if (largest_input_ == 0) largest_input_ = 1;
  for (const float one : magnitude()) largest_magnitude_ = std::max(largest_magnitude_, one);
  if (largest_magnitude_ == 0) largest_magnitude_ = 1;
}

ExpectedOutput::~ExpectedOutput() = default;

std::span<const double> ExpectedOutput::value() const {
  return {value_.get(), static_cast<std::size_t>(held_) * elements_};
}

std::span<const float> ExpectedOutput::magnitude() const {
  return {magnitude_.get(), static_cast<std::size_t>(held_) * elements_};
}

ReferenceOutput ExpectedOutput::sums(const CallSetting& setting, int image) const {
  const Call call(*this, setting);
  const int source = setting.change.source(image, batch());
  if (setting.change.fresh || source >= held_) return call.output(image);
  const std::size_t first = static_cast<std::size_t>(source) * elements_;
  const std::span<const double> value_of = value().subspan(first, elements_);
  const std::span<const float> magnitude_of = magnitude().subspan(first, elements_);
  ReferenceOutput sums{{value_of.begin(), value_of.end()}, {}};
  std::vector<float> magnitudes(magnitude_of.begin(), magnitude_of.end());
  for (double& one : sums.value) one *= setting.change.factor;
  for (float& one : magnitudes) one *= std::abs(setting.change.factor);
  const int maps = problem_.shape.problem->output_image(problem_.shape).channels;
  const std::size_t pixels = elements_ / static_cast<std::size_t>(maps);
  for (int map = 0; map < maps; ++map) {
    const std::size_t at = static_cast<std::size_t>(map) * pixels;
    call.add_pokes(image, map, sums.value.data() + at, magnitudes.data() + at);
  }
  sums.magnitude.assign(magnitudes.begin(), magnitudes.end());
  return sums;
}

std::vector<ReferenceOutput> ExpectedOutput::of_elements(const CallSetting& setting, int item,
                                                         const std::vector<std::vector<std::int64_t>>& elements) const {
  const std::vector<float> input = Call(*this, setting).input(item);
  ReferenceOutput output;
  for (const std::int64_t element : elements.front()) {
    const ElementSum sum = reference_->sum_of_element(input.data(), element);
    output.value.push_back(sum.value);
    output.magnitude.push_back(sum.magnitude);
  }
  return {output};
}

Check ExpectedOutput::compare(const ReadTensor& read, std::int64_t most_bytes, const CallSetting& setting,
                              double tolerance) const {
  return Comparison(*this, setting, tolerance).run(read, most_bytes / static_cast<std::int64_t>(sizeof(float)));
}

}  // namespace convladder
