// Compares a part of a variant's work with float64, item by item, each on the input that the part really had. Runs in
// the harness's own process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/verification/step_check.hpp"
#include "support/seeded_random.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// Some images before and after a part, one after the other.
struct PartImages {
  int first = 0;  ///< place in the call of the first image
  int count = 0;
  const float* input = nullptr;
  const float* output = nullptr;
  OutputFill fill;  ///< the fill of the output before the part, counted from each chunk's first element
  int chunk = 1;    ///< images in a chunk
};

/// Operations of the images that are compared element by element in linear parts.
inline constexpr double kComparedFlop = 1e9;

class PartComparison {
 public:
  /// `constants` are the whole problem's, on the host. `secret` is a number that no case can know. The constants and
  /// the part outlive this.
  PartComparison(const VariantPart& part, const std::vector<PlacedTensor>& constants, std::uint64_t secret);

  /// Looks at every image. Convolutions and fully connected layers are linear: `by_element` images, other ones each
  /// time, are compared element by element, the others in random combinations (combined_images.hpp). In all other
  /// parts every element of every image is compared.
  void compare(const PartImages& images, int by_element);
  const StepCheck& check() const { return check_; }

 private:
  bool linear() const { return part_.size.problem->is_linear() || is_connected_layer_; }
  bool has_bias() const { return constants_.size() > 1; }
  std::size_t inputs() const { return static_cast<std::size_t>(part_.size.input_elements_per_item()); }
  std::size_t outputs() const { return static_cast<std::size_t>(part_.size.output_elements_per_item()); }
  void compare_linear(const PartImages& images, int by_element);
  void compare_by_element(const PartImages& images, const std::vector<int>& which);
  void compare_combined(const PartImages& images, const std::vector<std::vector<int>>& groups);
  std::string combination_failure(const PartImages& images, const std::vector<int>& which, std::uint64_t secret) const;
  ImageCheck image_check(const PartImages& images, int image) const;
  ProblemSize as_convolution(bool with_bias) const;
  std::vector<float> weights_with_bias() const;

  const VariantPart& part_;
  std::vector<PlacedTensor> constants_;  ///< the part's own
  bool is_connected_layer_;
  double tolerance_;
  SeededRandom random_;
  std::vector<float> with_bias_;  ///< weights of a fully connected layer, with its bias as the weights of one more
                                  ///< input
  StepCheck check_;
};

}  // namespace convladder
