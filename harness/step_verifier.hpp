// Every layer of a pass held against float64, each on what really entered it.
#pragma once

#include <string>
#include <vector>

#include "devices/device.hpp"
#include "harness/step_check.hpp"
#include "network/network_runner.hpp"
#include "network/operators/reference.hpp"
#include "network/weights.hpp"

namespace convladder {

/// Observes a pass: keeps each step's input, poisons its output, and compares the output of the first images with the
/// reference. A step that writes over its input cannot be poisoned.
class StepVerifier final : public StepObserver {
 public:
  /// `images`: how many of a chunk are compared.
  StepVerifier(Device& device, const NetworkWeights& weights, int images)
      : device_(device), weights_(weights), most_images_(images) {}

  void before(const NetworkStep& step, int images, const float* input, float* output) override;
  void after(const NetworkStep& step, int images, float* output) override;

  const std::vector<StepCheck>& checks() const { return checks_; }
  /// "conv1 (shared-memory): …", the first failure; empty if all steps are right.
  std::string first_failure() const;

 private:
  Device& device_;
  const NetworkWeights& weights_;
  int most_images_;
  std::vector<float> input_;
  std::vector<StepCheck> checks_;
};

}  // namespace convladder
