// A folder's problem as the harness knows problems: one item, whose tensors are those of problem.json.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ladders/problem_file.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// A tensor as a reference reads and writes it: numbers in the types of its signature, one behind the other.
struct ReferenceTensor {
  const LadderTensor* tensor = nullptr;
  std::int64_t elements = 0;
  std::vector<std::byte> values;  ///< in and in-out: as a call finds them; out and in-out: the right result
  std::vector<double> scale;      ///< NaN where the reference says nothing; empty where nothing is asked
};

/// A reference: takes and fills the tensors of problem.json, in their order. Any thread may call. Throws UserError.
using LadderReference = std::function<void(const ProblemSize& size, std::vector<ReferenceTensor>& tensors)>;

class FolderProblem final : public Problem {
 public:
  /// `text` is the content of problem.json, `file` what messages call it. Throws UserError.
  FolderProblem(std::string text, const std::string& file);

  const LadderProblem& ladder() const { return ladder_; }
  /// The text of problem.json, from which another process makes the same problem, but without its reference.
  const std::string& text() const { return text_; }
  /// Sets the reference; before that, `reference` throws std::logic_error. `identity` differs where the reference does;
  /// `name` is what records call it.
  void set_reference(LadderReference reference, std::string name, std::string identity = {});
  const std::string& reference_identity() const { return reference_identity_; }
  void set_variants(std::vector<ProblemVariant> variants) { variants_ = std::move(variants); }

  std::string_view name() const override { return ladder_.name; }
  std::string_view title() const override { return ladder_.title; }
  std::vector<Dimension> dimensions() const override;
  std::string own_size_error(const ProblemSize& size) const override;
  std::vector<std::string> default_sizes() const override { return ladder_.sizes; }
  std::vector<std::string> counted_sizes() const override { return ladder_.counted_sizes; }
  std::vector<int> default_batches() const override { return {1}; }

  std::vector<ProblemTensor> inputs(const ProblemSize& size) const override;
  std::vector<ProblemTensor> outputs(const ProblemSize& size) const override;
  std::vector<ProblemTensor> in_outs(const ProblemSize& size) const override;
  double flop(const ProblemSize& size) const override;
  std::optional<double> least_bytes(const ProblemSize& size) const override;
  void fill(const ProblemSize& size, const PlacedTensor& placed, SeededRandom& random, bool whole) const override;

  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override;
  std::string reference_name() const override { return reference_name_; }
  /// The largest tolerance in problem.json, whatever a stage wants; where a tensor is granted less, its magnitudes are
  /// smaller by that ratio.
  double granted_tolerance(double wanted, const ProblemSize& size) const override;
  /// Always false: the reference says what is exact, and treats whole numbers like any other inputs.
  bool is_exact_on_whole_numbers(const ProblemSize& size, double tolerance) const override;

  const std::vector<ProblemVariant>& variants() const override { return variants_; }

 private:
  SizeValues values(const ProblemSize& size) const { return ladder_.size_values(size.values); }
  std::vector<ProblemTensor> tensors(const ProblemSize& size, TensorRole role) const;

  std::string text_;
  LadderProblem ladder_;
  LadderReference reference_;
  std::string reference_name_;
  std::string reference_identity_;
  double largest_tolerance_ = 0;
  std::vector<ProblemVariant> variants_;
};

}  // namespace convladder
