// The layers around the convolution as problems: what they have in common.
#pragma once

#include <string>
#include <vector>

#include "variants/layer_operator.hpp"
#include "variants/problem.hpp"

namespace convladder {

/// A problem whose variants are operators of one type, each with a rung in the order of `registered_operators`.
class OperatorProblem : public Problem {
 public:
  explicit OperatorProblem(OperatorType type) : type_(type) {}

  OperatorType type() const { return type_; }
  virtual OperatorShape operator_shape(const ProblemSize& size) const = 0;
  ProblemSize size_of(const OperatorShape& shape) const;
  /// The values of its dimensions behind channels, rows and columns.
  virtual std::vector<int> other_values(const OperatorShape& shape) const {
    static_cast<void>(shape);
    return {};
  }
  /// Empty if input, output and what else is of this type go together, otherwise what does not, in one line.
  virtual std::string own_shape_error(const OperatorShape& shape) const = 0;
  /// One image by the definition; `weights` and `bias` are null where there are none.
  virtual ReferenceOutput own_reference(const OperatorShape& shape, const float* input, const float* weights,
                                        const float* bias) const = 0;

  std::string own_size_error(const ProblemSize& size) const override;
  std::int64_t input_elements(const ProblemSize& size) const override;
  std::int64_t output_elements(const ProblemSize& size) const override;
  /// Weights and bias, where it has them.
  std::vector<ProblemTensor> constants(const ProblemSize& size) const override;
  double flop(const ProblemSize& size) const override { return static_cast<double>(output_elements(size)); }
  std::vector<ReferenceOutput> reference(const ProblemSize& size, const ProblemTensors& item) const override;
  const std::vector<ProblemVariant>& variants() const override;

 private:
  OperatorType type_;
};

/// What is computed by operators of that type. Throws std::logic_error if the build has no such problem.
const OperatorProblem& operator_problem(OperatorType type);

/// Channels, rows and columns; the last two are 1 unless told.
std::vector<Dimension> image_dimensions();
ActivationShape image_of(const ProblemSize& size);

/// One whose output has the shape of its input.
class SameShapeProblem : public OperatorProblem {
 public:
  using OperatorProblem::OperatorProblem;
  std::vector<Dimension> dimensions() const override { return image_dimensions(); }
  OperatorShape operator_shape(const ProblemSize& size) const override {
    return {.type = type(), .batch = size.batch, .input = image_of(size), .output = image_of(size)};
  }
  std::string own_shape_error(const OperatorShape& shape) const override;
};

}  // namespace convladder
