// The contract: what a problem is, whatever its variants do.
//
// A problem is a folder below variants/: a source file that says what is computed and registers it, and its variants in
// cpu/ and cuda/. A batch holds items, each with inputs and outputs of its own; what they share, weights for example,
// are constants. Plan, inputs, verification, measurement, counters, checkers and records are derived from this. See
// docs/extend/adding.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/seeded_random.hpp"
#include "variants/problem_size.hpp"
#include "variants/problem_tensors.hpp"
#include "variants/reference_output.hpp"

namespace convladder {

struct ProblemVariant;

inline constexpr std::string_view kDefaultProblem = "convolution";

/// One dimension of a problem's sizes.
struct Dimension {
  std::string_view letter;   ///< as typed and in names: "C"; one or more capitals
  std::string_view name;     ///< as in records: "channels"
  std::optional<int> usual;  ///< what it is where a size does not say
  int smallest = 1;
  int largest = 1 << 20;
};

/// One problem. Stateless: one object serves every size. Whatever takes a size takes one without a `size_error`.
class Problem {
 public:
  Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  virtual ~Problem() = default;

  virtual std::string_view name() const = 0;   ///< as typed: "max-pooling"
  virtual std::string_view title() const = 0;  ///< as drawn and said: "max pooling"
  virtual std::vector<Dimension> dimensions() const = 0;
  /// Empty if there is such a size, beyond the limits of each dimension; otherwise what is wrong, in one line.
  virtual std::string own_size_error(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// What is run where nobody names a size: without batch.
  virtual std::vector<std::string> default_sizes() const = 0;
  /// The same for devices that count, which take their time.
  virtual std::vector<std::string> counted_sizes() const { return default_sizes(); }
  /// The batches where nobody names one.
  virtual std::vector<int> default_batches() const { return {10, 100, 1000}; }

  /// The rung up to which the ladder tells the story that everybody starts with, from its lowest; 0 if it tells none.
  virtual int story_rungs() const { return 0; }

  /// Of one item, where each item has one float32 input and one float32 output.
  virtual std::int64_t input_elements(const ProblemSize& size) const {
    static_cast<void>(size);
    return 0;
  }
  virtual std::int64_t output_elements(const ProblemSize& size) const {
    static_cast<void>(size);
    return 0;
  }
  /// The tensors of one item, in the order in which variants get them: one called "input" and one called "output"
  /// unless told. Outputs may not be of 64-bit integers, which the reference does not hold.
  virtual std::vector<ProblemTensor> inputs(const ProblemSize& size) const { return {{"input", input_elements(size)}}; }
  virtual std::vector<ProblemTensor> outputs(const ProblemSize& size) const {
    return {{"output", output_elements(size)}};
  }
  /// Likewise what a call finds and replaces by results. Each call finds given values, whatever the call before left.
  virtual std::vector<ProblemTensor> in_outs(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// What all items share, likewise.
  virtual std::vector<ProblemTensor> constants(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// Inputs and in-outs, outputs and in-outs: what a call is given, and what it leaves.
  std::vector<ProblemTensor> given(const ProblemSize& size) const;
  std::vector<ProblemTensor> results(const ProblemSize& size) const;

  /// Whether every variant may be given the same memory for the first input and the first output.
  virtual bool works_in_place() const { return false; }

  /// Elements of one item that a variant may hold beside these tensors, between its steps.
  virtual std::int64_t intermediate_elements(const ProblemSize& size) const {
    static_cast<void>(size);
    return 0;
  }

  /// Operations of one item by the definition, and those that no algorithm leaves out.
  virtual double flop(const ProblemSize& size) const = 0;
  virtual double least_flop(const ProblemSize& size) const { return flop(size); }
  /// The fewest bytes that one item must move, where that is not every tensor once.
  virtual std::optional<double> least_bytes(const ProblemSize& size) const {
    static_cast<void>(size);
    return std::nullopt;
  }

  /// How many times fewer operations than `least_flop` a cleverer algorithm could make.
  virtual double most_saved_operations(const ProblemSize& size) const {
    static_cast<void>(size);
    return 1;
  }

  /// Writes a tensor that is given, of one item, or a constant. `whole`: small whole numbers; otherwise numbers as
  /// variants meet them. Unless told: -8 to 8; -1 to 1, all values of an 8-bit integer, or -1000 to 1000; of unsigned
  /// integers none below 0. Between calls elements are replaced by others between the smallest and the largest.
  virtual void fill(const ProblemSize& size, const PlacedTensor& tensor, SeededRandom& random, bool whole) const;

  /// Whether outputs are sums of products of an item's input with the constants and nothing else, over sizes as the
  /// convolution has them: then many items are held against the reference at once.
  virtual bool is_linear() const { return false; }
  /// Whether all items of a batch take the same work, whatever they hold: then what is counted of a few is known of
  /// all, and a batch on a device that counts is looked at in part.
  virtual bool items_are_alike() const { return false; }
  /// What follows from the dimensions, where records show it beside them: ("out_height", 66).
  virtual std::vector<std::pair<std::string_view, int>> derived_values(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// Whether it is what is run where nobody names a problem; records leave its name out.
  bool is_default() const { return name() == kDefaultProblem; }

  /// What one item's results must come to, in the order of `results`: exact enough, with the scale of its errors,
  /// computed by the definition in float64, in a fixed order. `item` has no outputs, and its in-outs are as a call
  /// finds them. A magnitude of 0 asks for the very value, as integers always do. What is no number is never right.
  virtual std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const = 0;
  /// What the record says of it.
  virtual std::string reference_name() const { return "float64 " + std::string(title()); }
  /// The largest |error| / magnitude allowed to a variant that asks for `wanted`; beside it half a unit in the last
  /// place of a result of 16 bits.
  virtual double granted_tolerance(double wanted, const ProblemSize& size) const;
  /// Whether on whole numbers a variant of that tolerance has to be exact.
  virtual bool is_exact_on_whole_numbers(const ProblemSize& size, double tolerance) const {
    static_cast<void>(size);
    static_cast<void>(tolerance);
    return true;
  }

  /// A size like this one on which whole numbers come out exactly, where that is another.
  virtual ProblemSize whole_number_size(const ProblemSize& size) const { return size; }

  /// `size_name` of a size.
  virtual std::string size_text(const ProblemSize& size) const;

  /// All variants of this build: by family, in the order of their rungs, libraries last.
  virtual const std::vector<ProblemVariant>& variants() const;
};

/// Every problem of this build, by name. Throws std::logic_error if two share a name.
const std::vector<const Problem*>& registered_problems();

/// The problem of that name, or nullptr. What was opened goes before what is built in.
const Problem* find_problem(std::string_view name);

/// Makes a problem known that is not part of the program, from now on and for as long as it runs; one of the same name
/// that was opened before is not found any more. `find_problem` finds it, `registered_problems` does not have it.
const Problem& open_problem(std::unique_ptr<Problem> problem);

/// A static object of this type in a problem's source file registers it.
struct ProblemRegistration {
  explicit ProblemRegistration(std::unique_ptr<Problem> problem);
};

}  // namespace convladder
