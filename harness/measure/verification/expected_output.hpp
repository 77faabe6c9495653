// The expected output of a linear problem, for every image of its batch: the references are kept, and the changes by a
// call are added to them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "harness/measure/verification/expectation.hpp"
#include "variants/problem.hpp"

namespace convladder {

/// The most bytes that references take where no limit is given.
std::size_t default_reference_bytes();

class ExpectedOutput final : public Expectation {
 public:
  /// Computes the float64 reference of as many images as `most_bytes` hold, on all cores: of all of them, except for
  /// very large batches. The problem's tensors must outlive it.
  explicit ExpectedOutput(const ProblemData& problem, std::size_t most_bytes = default_reference_bytes());
  ~ExpectedOutput() override;

  const ProblemData& problem() const { return problem_; }
  const LinearReference& reference() const { return *reference_; }
  int batch() const override { return problem_.shape.batch; }
  bool is_linear() const override { return true; }
  /// The number of first images whose references are stored; the others are compared in combinations
  /// (combined_images.hpp).
  int held_images() const { return held_; }
  /// The reference of the held images: the sums, and the sums of |x * w|, as the output lies.
  std::span<const double> value() const;
  std::span<const float> magnitude() const;
  float largest_input() const override { return largest_input_; }
  float largest_magnitude() const { return largest_magnitude_; }
  std::vector<float> fill_scales() const override { return {largest_magnitude_}; }

  /// Asks for at least a whole map of an image at a time. Of a call whose input is all new, at most 65 images are
  /// looked at, drawn anew each time.
  Check compare(const ReadTensor& read, std::int64_t most_bytes, const CallSetting& setting,
                double tolerance) const override;
  std::vector<ReferenceOutput> of_elements(const CallSetting& setting, int item,
                                           const std::vector<std::vector<std::int64_t>>& elements) const override;

  /// The expected output of one image in that call.
  ReferenceOutput sums(const CallSetting& setting, int image) const;

 private:
  ProblemData problem_;
  std::unique_ptr<LinearReference> reference_;
  std::size_t elements_;  ///< of an image's output
  int held_ = 0;
  std::unique_ptr<double[]> value_;
  std::unique_ptr<float[]> magnitude_;
  float largest_input_ = 0;
  float largest_magnitude_ = 0;
};

}  // namespace convladder
