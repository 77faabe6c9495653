// The contract of a problem, whatever its variants do.
//
// A problem is a folder below variants/: a source file that defines the computation and registers it, and its variants
// in cpu/ and cuda/. A batch holds items, each with inputs and outputs of its own; data that they share, such as
// weights, are constants. Plan, inputs, verification, measurement, counters, checkers and records are derived from
// this. See docs/extend/adding.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/seeded_random.hpp"
#include "variants/accuracy.hpp"
#include "variants/layer_shapes.hpp"
#include "variants/linear_reference.hpp"
#include "variants/problem_size.hpp"
#include "variants/problem_tensors.hpp"

namespace convladder {

struct ProblemVariant;

/// One dimension of a problem's sizes.
struct Dimension {
  std::string_view letter;   ///< as typed and in names: "C"; one or more capitals
  std::string_view name;     ///< as in records: "channels"
  std::optional<int> usual;  ///< the value if a size does not give one
  int smallest = 1;
  int largest = 1 << 20;
};

/// One problem. Stateless: one object serves every size. Functions that take a size require one without a `size_error`.
class Problem {
 public:
  Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  virtual ~Problem() = default;

  virtual std::string_view name() const = 0;   ///< as typed: "max-pooling"
  virtual std::string_view title() const = 0;  ///< as drawn and said: "max pooling"
  /// The name for which its variants are registered: its own, unless many problems share their variants, as networks
  /// do.
  virtual std::string_view kind() const { return name(); }
  virtual std::vector<Dimension> dimensions() const = 0;
  /// Empty if the problem can have that size, apart from the limits of each dimension; otherwise the error, in one
  /// line.
  virtual std::string own_size_error(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// The sizes that run where nobody names one, without their batches.
  virtual std::vector<std::string> default_sizes() const = 0;
  /// The sizes that run where nobody names one on devices that count, which are slow.
  virtual std::vector<std::string> counted_sizes() const { return default_sizes(); }
  /// The batches that run where nobody names one.
  virtual std::vector<int> default_batches() const { return {10, 100, 1000}; }

  /// The last rung of the ladder's introduction, which is stages 1 to this one; 0 if there is none.
  virtual int introduction_rungs() const { return 0; }

  /// Elements of one item's input and output, if each item has one float32 input and one float32 output.
  virtual std::int64_t input_elements(const ProblemSize& size) const {
    static_cast<void>(size);
    return 0;
  }
  virtual std::int64_t output_elements(const ProblemSize& size) const {
    static_cast<void>(size);
    return 0;
  }
  /// The tensors of one item, in the order in which variants get them: by default one "input" and one "output". Outputs
  /// must not be 64-bit integers, which the reference cannot hold.
  virtual std::vector<ProblemTensor> inputs(const ProblemSize& size) const { return {{"input", input_elements(size)}}; }
  virtual std::vector<ProblemTensor> outputs(const ProblemSize& size) const {
    return {{"output", output_elements(size)}};
  }
  /// The tensors of one item that a call replaces by results. Each call finds the given values, whatever the previous
  /// call left.
  virtual std::vector<ProblemTensor> in_outs(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// The tensors that all items share.
  virtual std::vector<ProblemTensor> constants(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// The tensors that a call is given, inputs and in-outs; `results` are those that it writes, outputs and in-outs.
  std::vector<ProblemTensor> given(const ProblemSize& size) const;
  std::vector<ProblemTensor> results(const ProblemSize& size) const;

  /// The first input and the first output of one item as images: a row of elements each, unless the problem says
  /// otherwise.
  virtual ActivationShape input_image(const ProblemSize& size) const {
    return {1, 1, static_cast<int>(input_elements(size))};
  }
  virtual ActivationShape output_image(const ProblemSize& size) const {
    return {1, 1, static_cast<int>(output_elements(size))};
  }
  /// Rows and columns of the input's image from which an element of the output comes, at least.
  virtual int input_window(const ProblemSize& size) const {
    static_cast<void>(size);
    return 1;
  }

  /// Whether every variant may be given the same memory for the first input and the first output.
  virtual bool works_in_place() const { return false; }

  /// Elements of one item that a variant may hold in memory between its steps, in addition to these tensors.
  virtual std::int64_t intermediate_elements(const ProblemSize& size) const {
    static_cast<void>(size);
    return 0;
  }

  /// Operations of one item by the definition; `least_flop` counts only those that no algorithm can leave out.
  virtual double flop(const ProblemSize& size) const = 0;
  virtual double least_flop(const ProblemSize& size) const { return flop(size); }
  /// The fewest bytes that one item must move, if that is not every tensor once.
  virtual std::optional<double> least_bytes(const ProblemSize& size) const {
    static_cast<void>(size);
    return std::nullopt;
  }

  /// How many times fewer operations than `least_flop` a cleverer algorithm could take.
  virtual double most_saved_operations(const ProblemSize& size) const {
    static_cast<void>(size);
    return 1;
  }

  /// Fills a given tensor of one item, or a constant: with small whole numbers if `whole`, otherwise with numbers as
  /// variants meet them. By default whole numbers are -8 to 8, and others -1 to 1, all values of an 8-bit integer, or
  /// -1000 to 1000; unsigned integers are never below 0. Between calls elements are replaced by others between the
  /// smallest and the largest.
  virtual void fill(const ProblemSize& size, const PlacedTensor& tensor, SeededRandom& random, bool whole) const;

  /// Whether the output is sums of products of the input with the one constant, its weights, and nothing else: then
  /// many items are compared with the reference at once.
  virtual bool is_linear() const { return false; }
  /// The reference of a linear problem, for any number of items; the weights must outlive it. nullptr for other
  /// problems.
  virtual std::unique_ptr<LinearReference> linear_reference(const ProblemSize& size, const float* weights) const {
    static_cast<void>(size);
    static_cast<void>(weights);
    return nullptr;
  }
  /// Whether all items of a batch take the same work, whatever they hold: then counts of a few items hold for all, and
  /// a device that counts runs only a part of the batch.
  virtual bool items_are_alike() const { return false; }
  /// Values that follow from the dimensions and that records show beside them: ("out_height", 66).
  virtual std::vector<std::pair<std::string_view, int>> derived_values(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// Whether this problem runs where nobody names one; records leave its name out.
  bool is_default() const { return name() == kDefaultProblem; }

  /// The results that one item must have, in the order of `results`, with the scale of their errors: computed by the
  /// definition in float64, in a fixed order. `item` has no outputs, and its in-outs are as a call finds them. A
  /// magnitude of 0 asks for exactly the value, as integers always do. A result that is not a number is never right.
  virtual std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const = 0;
  /// The name of the reference in the record.
  virtual std::string reference_name() const { return "float64 " + std::string(title()); }
  /// The largest tolerance that a variant in float32 asks for; coarser arithmetic asks for more.
  virtual double float32_tolerance() const { return kFloat32Tolerance; }
  /// The largest |error| / magnitude allowed to a variant that asks for `wanted`; a result of 16 bits may also be off
  /// by half a unit in the last place.
  virtual double granted_tolerance(double wanted, const ProblemSize& size) const;
  /// Whether a variant of that tolerance has to be exact on whole numbers.
  virtual bool is_exact_on_whole_numbers(const ProblemSize& size, double tolerance) const {
    static_cast<void>(size);
    static_cast<void>(tolerance);
    return true;
  }

  /// A size like this one on which whole numbers give exact results; this size itself if it does.
  virtual ProblemSize whole_number_size(const ProblemSize& size) const { return size; }

  /// The text of `size_name` for a size.
  virtual std::string size_text(const ProblemSize& size) const;

  /// All variants of this build: by family, in the order of their rungs, libraries last.
  virtual const std::vector<ProblemVariant>& variants() const;
};

/// Every problem of this build, by name. Throws std::logic_error if two share a name.
const std::vector<const Problem*>& registered_problems();

/// The problem of that name that is part of the program. Throws std::logic_error if there is none.
const Problem& built_in_problem(std::string_view name);

/// The problem of that name, or nullptr. Opened problems take precedence over built-in ones.
const Problem* find_problem(std::string_view name);

/// Adds a problem that is not part of the program, for as long as the program runs; a problem of the same name that was
/// opened before is no longer found. `find_problem` finds it, `registered_problems` does not have it.
const Problem& open_problem(std::unique_ptr<Problem> problem);

/// A static object of this type in a problem's source file registers it.
struct ProblemRegistration {
  explicit ProblemRegistration(std::unique_ptr<Problem> problem);
};

/// A static object of this type registers a kind of problems that are made when they are named (Problem::kind).
struct ProblemKindRegistration {
  explicit ProblemKindRegistration(std::string_view kind);
};

/// The variants that are registered for a kind of problems, by family and name; they have no problem yet.
std::vector<ProblemVariant> variants_of_kind(std::string_view kind);

}  // namespace convladder
