// Compares a step of a network with float64, image by image, each on the input that the step really had. Runs in the
// harness's own process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/measure/verification/step_check.hpp"
#include "network/network_steps.hpp"
#include "network/weights.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

/// Some images before and after a step, one after the other.
struct StepImages {
  int first = 0;  ///< place in the pass of the first image
  int count = 0;
  const float* input = nullptr;
  const float* output = nullptr;
  OutputFill fill;  ///< the fill of the output before the step, counted from each chunk's first element
  int chunk = 1;    ///< images in a chunk
};

class StepComparison {
 public:
  /// `weights` are those of the step's layer, empty where it has none. `secret` is a number that no case can know.
  /// Both outlive this.
  StepComparison(const NetworkStep& step, const LayerWeights& weights, std::uint64_t secret);

  /// Looks at every image. Convolutions and fully connected layers are linear: `by_element` images, other ones each
  /// time, are compared element by element, the others in random combinations (combined_images.hpp). For all other
  /// steps every element of every image is compared.
  void compare(const StepImages& images, int by_element);
  const StepCheck& check() const { return check_; }

 private:
  bool linear() const;
  void compare_linear(const StepImages& images, int by_element);
  void compare_by_element(const StepImages& images, const std::vector<int>& which);
  void compare_combined(const StepImages& images, const std::vector<std::vector<int>>& groups);
  std::string combination_failure(const StepImages& images, const std::vector<int>& which, std::uint64_t secret) const;
  ImageCheck image_check(const StepImages& images, int image) const;

  const NetworkStep& step_;
  const LayerWeights& weights_;
  double tolerance_;
  SeededRandom random_;
  std::vector<float> with_bias_;  ///< weights of a fully connected layer, with its bias as the weights of one more
                                  ///< input
  StepCheck check_;
};

}  // namespace convladder
