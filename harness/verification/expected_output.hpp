// What a convolution must come to, for every image of its batch, and whether an output does. Only the harness has this:
// it never enters the process, or the memory, of a case.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "harness/verification/input_change.hpp"
#include "harness/verification/output_fill.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {

/// One problem: a shape with its tensors.
struct Problem {
  ConvShape shape;
  std::span<const float> input;    ///< NCHW
  std::span<const float> weights;  ///< OIHW
};

/// What a comparison found. `passed` only if nothing is wrong at all.
struct Check {
  bool passed = false;
  double max_scaled_error = 0;  ///< largest |error| / sum(|x * w|); NaN where a compared element is not a number
  std::int64_t unwritten = 0;   ///< elements of the whole output that hold what was there before the call
  std::int64_t not_finite = 0;  ///< elements that are NaN or infinite
  std::int64_t compared = 0;    ///< elements held against the reference, each by itself
  int images = 0;               ///< images of which every element was
  int combined_images = 0;      ///< images held against it in random combinations only
  std::string first_failure;    ///< one line; empty if passed

  nlohmann::ordered_json to_json() const;
};

/// What a call had been given.
struct CallSetting {
  InputChange change;
  OutputFill fill;        ///< of the output, before
  std::int64_t call = 0;  ///< whose pokes are in the input, if the change has any
};

/// Hands out `count` elements of an output from `first` on, as floats on the host; null where they cannot be had.
using ReadOutput = std::function<const float*(std::int64_t first, std::int64_t count)>;

/// Where no more than this is given to it.
std::size_t default_reference_bytes();

class ExpectedOutput {
 public:
  /// Computes the float64 reference of as many images as `most_bytes` hold, on all cores: of all of them but for very
  /// large batches. The problem's tensors must outlive it.
  explicit ExpectedOutput(const Problem& problem, std::size_t most_bytes = default_reference_bytes());
  ~ExpectedOutput();

  const Problem& problem() const { return problem_; }
  /// The references of the first images, this many, are stored; the others are compared in combinations
  /// (combined_images.hpp).
  int held_images() const { return held_; }
  /// Of held images: the sums, and the sums of |x * w|, as the output lies.
  std::span<const double> value() const;
  std::span<const float> magnitude() const;
  /// The largest |input| and the largest magnitude: what pokes and fills are to look like.
  float largest_input() const { return largest_input_; }
  float largest_magnitude() const { return largest_magnitude_; }

  /// Holds the output of the problem's images against the reference: |error| <= tolerance * sum(|x * w|) for every
  /// element. A tolerance of 0 asks for the very bits. Elements are asked for in order, `most_elements` at a time or
  /// a whole map, and looked at on all cores. What cannot be read ends it: the check has not passed then, and says
  /// nothing.
  Check compare(const ReadOutput& read, std::int64_t most_elements, const CallSetting& setting, double tolerance) const;

  /// What one image comes to in that call.
  ReferenceOutput sums(const CallSetting& setting, int image) const;

 private:
  Problem problem_;
  int held_ = 0;
  std::unique_ptr<double[]> value_;
  std::unique_ptr<float[]> magnitude_;
  float largest_input_ = 0;
  float largest_magnitude_ = 0;
};

}  // namespace convladder
