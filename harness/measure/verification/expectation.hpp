// The expected output of a problem, for every item of its batch, and whether an output meets it. Only the harness has
// this: it never enters the process, or the memory, of a case.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "harness/measure/verification/input_change.hpp"
#include "harness/measure/verification/output_fill.hpp"
#include "harness/measure/verification/problem_data.hpp"

namespace convladder {

/// The result of a comparison. `passed` only if nothing at all is wrong.
struct Check {
  bool passed = false;
  double max_scaled_error = 0;  ///< largest |error| / magnitude; NaN where a compared element is not a number
  std::int64_t unwritten = 0;   ///< elements of the whole output that hold what was there before the call
  std::int64_t not_finite = 0;  ///< elements that are NaN or infinite
  std::int64_t compared = 0;    ///< elements compared with the reference one by one
  int images = 0;               ///< images of which every element was compared
  int combined_images = 0;      ///< images compared with the reference in random combinations only
  std::string first_failure;    ///< one line; empty if passed
};

/// The input and outputs that a call was given.
struct CallSetting {
  InputChange change = {};
  OutputFill fill = {};            ///< the first output's fill before the call
  std::int64_t call = 0;           ///< the call whose pokes are in the input, if the change has any
  std::vector<float> scales = {};  ///< the scale of each output's fill; empty: there is one output

  OutputFill fill_of(std::size_t output) const {
    return output < scales.size() ? fill.of_tensor(output, scales[output]) : fill;
  }
};

/// Hands out `count` elements of a tensor, beginning with number `first`, in its own type, on the host, valid until the
/// next reading; null where they cannot be had. Items lie one after the other.
using ReadTensor = std::function<const void*(std::string_view tensor, std::int64_t first, std::int64_t count)>;

/// A number that no case can know: it decides which images are looked at closely, and how others are combined.
std::uint64_t secret_number();

class Expectation {
 public:
  Expectation() = default;
  Expectation(const Expectation&) = delete;
  Expectation& operator=(const Expectation&) = delete;
  virtual ~Expectation() = default;

  virtual int batch() const = 0;
  /// Whether the computation is linear: then inputs may be larger and of another sign.
  virtual bool is_linear() const = 0;
  /// The size of pokes where the tensors have no ranges (InputLayout), and below it the scale of each output's fill.
  virtual float largest_input() const = 0;
  virtual std::vector<float> fill_scales() const = 0;
  /// Whether calls may find elements at other places, so that all of an input is new (InputChange::thorough).
  virtual bool moves_elements() const { return false; }
  /// Whether a result shows that one element of an input has changed: not where a sum of very many is compared with a
  /// tolerance.
  virtual bool shows_one_element() const { return true; }

  /// Compares the results of a call with the reference: |error| <= tolerance * magnitude for every element that is
  /// compared. A tolerance of 0 asks for the exact bits. Elements are asked for in order, at most `most_bytes` at a
  /// time, or an image's share where that is more. An element that cannot be read ends the comparison: the check has
  /// not passed then, and says nothing.
  virtual Check compare(const ReadTensor& read, std::int64_t most_bytes, const CallSetting& setting,
                        double tolerance) const = 0;
  /// The expected values of some elements of one item in that call: `elements` has, for each of the problem's results
  /// (Problem::results), their places in the item.
  virtual std::vector<ReferenceOutput> of_elements(const CallSetting& setting, int item,
                                                   const std::vector<std::vector<std::int64_t>>& elements) const = 0;
};

/// Compares the probed elements of a result (output_probe.hpp) that a call left, one after the other in `found`, with
/// the reference. `expected` is its result from Expectation::of_elements. `fill`: what was there before the call; none
/// for a tensor that is also an input.
Check check_probed(const ProblemTensor& tensor, const ChosenElements& elements, const std::optional<OutputFill>& fill,
                   const ReferenceOutput& expected, std::int64_t item, const void* found, double tolerance);

/// The expectation of a linear problem, such as the convolution (expected_output.hpp), or of any problem
/// (expected_items.hpp). The tensors must outlive it.
std::unique_ptr<Expectation> make_expectation(const ProblemData& data);

}  // namespace convladder
