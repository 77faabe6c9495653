#include "harness/measure/verification/expected_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "devices/cpu/all_cores.hpp"
#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/verification/combined_images.hpp"
#include "harness/measure/verification/element_comparison.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {
namespace {

constexpr std::size_t kBytesOfAnElement = sizeof(double) + sizeof(float);
constexpr double kMemoryShare = 0.25;
constexpr int kChosenImages = 8;  // images that are not held but compared in full, other ones each time

/// A call of a problem: its images, and the changes of their sums.
class Call {
 public:
  Call(const ConvProblem& problem, const CallSetting& setting)
      : problem_(problem), setting_(setting), poked_(setting.change.poked(setting.call, problem.shape)) {}

  /// An image as the call found it.
  std::vector<float> input(int image) const {
    std::vector<float> input(static_cast<std::size_t>(problem_.shape.input_elements_per_image()));
    write_changed_image(input.data(), setting_.change, problem_.shape, problem_.input.data(), image);
    if (setting_.change.pokes != 0) {
      poke_image(input.data(), setting_.change, problem_.shape, problem_.input.data(), image, setting_.call);
    }
    return input;
  }

  /// Adds the changes by poked input elements: the convolution is linear, so their windows' sums change by delta * w.
  template <typename Magnitude>
  void add_pokes(int image, int map, double* value, Magnitude* magnitude) const {
    if (setting_.change.pokes == 0) return;
    const ConvShape& s = problem_.shape;
    if (poked_.channel / s.channels_per_group() != map / s.maps_per_group()) return;
    const double factor = setting_.change.factor;
    const float* const from =
        problem_.input.data() + setting_.change.source(image, s.batch) * s.input_elements_per_image();
    const float* const filter =
        problem_.weights.data() +
        (std::int64_t{map} * s.channels_per_group() + poked_.channel % s.channels_per_group()) * s.kernel * s.kernel;
    const double now = setting_.change.poked_value(setting_.call, problem_.shape).of(image);
    poked_.for_each(s, [&](int row, int column, std::int64_t element) {
      const double before = factor * from[element];
      add_poke(row, column, now - before, std::abs(now) - std::abs(before), filter, value, magnitude);
    });
  }

 private:
  /// Adds one poked element to all outputs in whose windows it lies.
  template <typename Magnitude>
  void add_poke(int row, int column, double delta, double more, const float* filter, double* value,
                Magnitude* magnitude) const {
    const ConvShape& s = problem_.shape;
    for (int p = 0; p < s.kernel; ++p) {
      const int top = row + s.padding - p;
      if (top < 0 || top % s.stride != 0 || top / s.stride >= s.out_height()) continue;
      for (int q = 0; q < s.kernel; ++q) {
        const int left = column + s.padding - q;
        if (left < 0 || left % s.stride != 0 || left / s.stride >= s.out_width()) continue;
        const std::int64_t at = std::int64_t{top / s.stride} * s.out_width() + left / s.stride;
        const double w = filter[p * s.kernel + q];
        value[at] += delta * w;
        magnitude[at] = static_cast<Magnitude>(magnitude[at] + more * std::abs(w));
      }
    }
  }

  const ConvProblem& problem_;
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
        problem_(expected.problem()),
        setting_(setting),
        tolerance_(tolerance),
        pixels_(std::int64_t{problem_.shape.out_height()} * problem_.shape.out_width()),
        call_(problem_, setting) {
    if (expected_.held_images() < problem_.shape.batch) choose_images();
  }

  Check run(const ReadTensor& read, std::int64_t most_elements) {
    const std::int64_t maps = std::int64_t{problem_.shape.batch} * problem_.shape.out_channels;
    const std::int64_t at_once = std::clamp<std::int64_t>(most_elements / pixels_, 1, maps);
    for (std::int64_t first = 0; first < maps; first += at_once) {
      const std::int64_t count = std::min(at_once, maps - first);
      const float* const found = static_cast<const float*>(read("output", first * pixels_, count * pixels_));
      if (found == nullptr) return {};
      compare_maps(first, count, found);
    }
    finish_combination();
    return conclude();
  }

 private:
  const ConvShape& shape() const { return problem_.shape; }
  int source(int image) const { return setting_.change.source(image, shape().batch); }
  bool held(int image) const { return source(image) < expected_.held_images(); }

  void choose_images() {
    std::vector<int> others;
    for (int image = 0; image < shape().batch; ++image) {
      if (!held(image)) others.push_back(image);
    }
    SeededRandom random(secret_number(), 0);
    for (int i = 0; i < kChosenImages && !others.empty(); ++i) {
      const auto at = static_cast<std::size_t>(random.between(0, static_cast<int>(others.size()) - 1));
      const ReferenceOutput reference =
          reference_convolution(shape(), call_.input(others[at]).data(), problem_.weights.data());
      chosen_[others[at]] = {reference.value, {reference.magnitude.begin(), reference.magnitude.end()}};
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
    }
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
    const int image = static_cast<int>(of_batch / shape().out_channels);
    const int map = static_cast<int>(of_batch % shape().out_channels);
    const std::int64_t at = map * pixels_;
    if (held(image)) {
      const std::int64_t in_reference = source(image) * shape().output_elements_per_image() + at;
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
    const std::int64_t first = (std::int64_t{image} * shape().out_channels + map) * pixels_;
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
          map, i / shape().out_width(), i % shape().out_width(),
          left ? "was never written" : fmt::format("is {:.9g}", found[i]), elements.value_factor * elements.value[i],
          scaled, tolerance_);
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
    const int image = static_cast<int>(of_batch / shape().out_channels);
    const int map = static_cast<int>(of_batch % shape().out_channels);
    if (map == 0 && (held(image) || chosen_.contains(image))) ++check_.images;
    if (held(image)) return;
    if (!combined_) combined_.emplace(shape(), problem_.weights.data(), secret_number());
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
      const std::string unwritten =
          fmt::format("{} of {} output elements were never written", check_.unwritten, shape().output_elements());
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
  const ConvProblem& problem_;
  const CallSetting& setting_;
  double tolerance_;
  std::int64_t pixels_;  ///< of a map
  Call call_;
  std::map<int, ChosenImage> chosen_;
  std::optional<CombinedImages> combined_;
  Check check_;
};

}  // namespace

std::size_t default_reference_bytes() {
  return static_cast<std::size_t>(kMemoryShare * static_cast<double>(available_memory_bytes()));
}

ExpectedOutput::ExpectedOutput(const ConvProblem& problem, std::size_t most_bytes) : problem_(problem) {
  const ConvShape& s = problem_.shape;
  const auto elements = static_cast<std::size_t>(s.output_elements_per_image());
  held_ = static_cast<int>(
      std::min<std::size_t>(static_cast<std::size_t>(s.batch), most_bytes / (elements * kBytesOfAnElement)));
  const std::size_t all = elements * static_cast<std::size_t>(held_);
  value_ = std::make_unique_for_overwrite<double[]>(all);
  magnitude_ = std::make_unique_for_overwrite<float[]>(all);
  reference_batch(s, held_, problem_.input.data(), problem_.weights.data(), value_.get(), magnitude_.get());
  for (const float x : problem_.input) largest_input_ = std::max(largest_input_, std::abs(x));
  if (largest_input_ == 0) largest_input_ = 1;
  for (const float one : magnitude()) largest_magnitude_ = std::max(largest_magnitude_, one);
  if (largest_magnitude_ == 0) largest_magnitude_ = 1;
}

ExpectedOutput::~ExpectedOutput() = default;

std::span<const double> ExpectedOutput::value() const {
  return {value_.get(), static_cast<std::size_t>(held_ * problem_.shape.output_elements_per_image())};
}

std::span<const float> ExpectedOutput::magnitude() const {
  return {magnitude_.get(), static_cast<std::size_t>(held_ * problem_.shape.output_elements_per_image())};
}

ReferenceOutput ExpectedOutput::sums(const CallSetting& setting, int image) const {
  const ConvShape& s = problem_.shape;
  const Call call(problem_, setting);
  const int source = setting.change.source(image, s.batch);
  if (source >= held_) return reference_convolution(s, call.input(image).data(), problem_.weights.data());
  const auto elements = static_cast<std::size_t>(s.output_elements_per_image());
  const std::span<const double> value_of = value().subspan(static_cast<std::size_t>(source) * elements, elements);
  const std::span<const float> magnitude_of =
      magnitude().subspan(static_cast<std::size_t>(source) * elements, elements);
  ReferenceOutput sums{{value_of.begin(), value_of.end()}, {magnitude_of.begin(), magnitude_of.end()}};
  for (double& one : sums.value) one *= setting.change.factor;
  for (double& one : sums.magnitude) one *= std::abs(setting.change.factor);
  const std::size_t pixels = elements / static_cast<std::size_t>(s.out_channels);
  for (int map = 0; map < s.out_channels; ++map) {
    const std::size_t at = static_cast<std::size_t>(map) * pixels;
    call.add_pokes(image, map, sums.value.data() + at, sums.magnitude.data() + at);
  }
  return sums;
}

Check ExpectedOutput::compare(const ReadTensor& read, std::int64_t most_bytes, const CallSetting& setting,
                              double tolerance) const {
  return Comparison(*this, setting, tolerance).run(read, most_bytes / static_cast<std::int64_t>(sizeof(float)));
}

}  // namespace convladder
