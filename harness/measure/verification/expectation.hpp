// What a problem must come to, for every item of its batch, and whether an output does. Only the harness has this: it
// never enters the process, or the memory, of a case.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/measure/verification/input_change.hpp"
#include "harness/measure/verification/output_fill.hpp"
#include "harness/measure/verification/problem_data.hpp"

namespace convladder {

/// What a comparison found. `passed` only if nothing is wrong at all.
struct Check {
  bool passed = false;
  double max_scaled_error = 0;  ///< largest |error| / magnitude; NaN where a compared element is not a number
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
  InputChange change = {};
  OutputFill fill = {};            ///< of the first output, before
  std::int64_t call = 0;           ///< whose pokes are in the input, if the change has any
  std::vector<float> scales = {};  ///< of the fill of each output; none: there is one output

  OutputFill fill_of(std::size_t output) const {
    return output < scales.size() ? fill.of_tensor(output, scales[output]) : fill;
  }
};

/// Hands out `count` elements of a tensor from `first` on, in its own type, on the host, until the next reading; null
/// where they cannot be had. Items lie one behind the other.
using ReadTensor = std::function<const void*(std::string_view tensor, std::int64_t first, std::int64_t count)>;

/// What nobody else knows: which images are looked at closely, and how others are combined.
std::uint64_t secret_number();

class Expectation {
 public:
  Expectation() = default;
  Expectation(const Expectation&) = delete;
  Expectation& operator=(const Expectation&) = delete;
  virtual ~Expectation() = default;

  virtual int batch() const = 0;
  /// Whether what is computed is linear: then inputs may be larger and of another sign.
  virtual bool is_linear() const = 0;
  /// What pokes are to look like where the tensors have no ranges (InputLayout), and the fill of each output.
  virtual float largest_input() const = 0;
  virtual std::vector<float> fill_scales() const = 0;
  /// Whether calls may find elements at other places, so that all of an input is new (InputChange::thorough).
  virtual bool moves_elements() const { return false; }
  /// Whether a result shows that one element of an input is another: not where a sum of very many is held to a
  /// tolerance.
  virtual bool shows_one_element() const { return true; }

  /// Holds what a call left against the reference: |error| <= tolerance * magnitude for every element that is compared.
  /// A tolerance of 0 asks for the very bits. Elements are asked for in order, at most `most_bytes` at a time, or an
  /// image's share where that is more. What cannot be read ends it: the check has not passed then, and says nothing.
  virtual Check compare(const ReadTensor& read, std::int64_t most_bytes, const CallSetting& setting,
                        double tolerance) const = 0;
  /// What the results of one item come to in that call, in their order (Problem::results).
  virtual std::vector<ReferenceOutput> of_item(const CallSetting& setting, int item) const = 0;
};

/// Holds what a call left of an output's probed elements (output_probe.hpp), one behind the other in `found`, against
/// the reference. `output` is its place among the outputs, `of_item` what Expectation::of_item says of it.
Check check_probed(const ProblemTensor& tensor, const ChosenElements& elements, const OutputFill& fill,
                   const ReferenceOutput& of_item, std::int64_t item, const void* found, double tolerance);

/// The convolution's own, which knows that it is linear (expected_output.hpp), or that of any problem
/// (expected_items.hpp). The tensors must outlive it.
std::unique_ptr<Expectation> make_expectation(const ProblemData& data);

}  // namespace convladder
