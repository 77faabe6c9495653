// The harness's side of verifying a network case: it says which images a pass gets, compares every step's results for
// every image with float64, and the scores of each later pass with the verified ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/networks/network_messages.hpp"
#include "harness/measure/networks/network_plan.hpp"
#include "harness/measure/networks/network_workload.hpp"
#include "harness/measure/networks/step_recorder.hpp"
#include "harness/measure/verification/part_comparison.hpp"
#include "network/network_variant.hpp"
#include "network/reference_network.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

/// How many different images the passes of a case take in turn: those of its batch, and for a small batch some more, so
/// that no two passes in a row get the same.
int images_in_turn(const NetworkCase& planned);

/// The reference for all cases of one network and batch.
struct NetworkTruth {
  std::span<const ReferencePrediction> predictions;  ///< of at least images_in_turn images
  std::span<const std::uint8_t> labels;              ///< of as many images as there are different ones
  const NetworkWeights* weights = nullptr;
};

/// Verifies a network case. Everything here throws CaseFailure where the case has ended or is wrong. All
/// that is handed over outlives it.
class NetworkVerifier {
 public:
  NetworkVerifier(const NetworkCase& planned, const NetworkWorkload& workload, const NetworkTruth& truth,
                  const OpenNetwork& open, std::uint64_t seed);

  /// Has every step of every image recorded, in as many passes as the window makes necessary, and compares them.
  void verify();
  /// Gives the next pass its images: the last ones in another order, or others.
  void change_images();
  /// Compares the scores of the last pass with the float64 classes and with the scores of the verified steps.
  void compare_scores();
  /// The images of some batches in a row, others in each batch than in the one before, as "loaded" asks for them.
  struct BatchesInARow {
    int first = 0;
    int step = 0;
    int of = 1;
    int batches = 1;
  };
  BatchesInARow choose_batches(int batches);
  /// Compares the scores of these batches, which were run last, as those of a pass.
  void compare_scores(const BatchesInARow& row);

  /// Images that a pass takes at once; known after `verify`, as are `steps` and all below.
  int chunk() const { return chunk_; }
  const std::vector<NetworkStep>& steps() const { return steps_; }
  /// The check of each step.
  std::vector<StepCheck> checks() const;
  /// The class that the verified scores of an image give.
  int found_class(int image) const;
  /// The reference's prediction for an image, with the rounding of the arithmetic that was chosen.
  ReferencePrediction expected(int image) const;

 private:
  void set_images(int rotation);
  void verify_block(const PassImages& block);
  void keep_scores(const PassImages& block);
  void compare_class(int image, const float* scores) const;
  void compare_batch(int batch, int rotation);
  void compare_with_verified(int place, int image, const float* scores) const;
  int image_at(int place) const { return (place + rotation_) % pool_; }

  const NetworkCase& planned_;
  const NetworkWorkload& workload_;
  const NetworkTruth& truth_;
  const OpenNetwork& open_;
  SeededRandom random_;
  std::vector<NetworkStep> steps_;
  NetworkProblem problem_;
  std::vector<VariantPart> parts_;
  std::vector<PlacedTensor> constants_;
  std::vector<PartComparison> comparisons_;
  int pool_;  ///< images_in_turn
  std::size_t classes_;
  double rounding_factor_;  ///< times the reference's rounding, which is computed for float32
  int chunk_ = 0;
  int rotation_ = 0;
  std::vector<float> entered_;  ///< images of a block
  std::vector<float> scores_;   ///< of each image, as its verified steps left them
};

}  // namespace convladder
