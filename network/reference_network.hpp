// A whole network in float64: the reference for every run of the network.
//
// Written for trust, not for speed: the convolution is its problem's own, the other layers are
// loops. Activations are rounded to float32 between the layers, as they are stored in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "network/network.hpp"
#include "network/weights.hpp"

namespace convladder {

/// The reference's prediction for one image.
struct ReferencePrediction {
  int best = 0;               ///< the class with the largest score; of equal ones the first
  int second = 0;             ///< the class that comes next (best itself in a network of one class)
  double gap = 0;             ///< between their scores, before a softmax at the end
  double rounding = 0;        ///< by how much float32 may move the gap: a layer's tolerance times the number of layers
                              ///< with weights times the sums of |x * w| behind both scores
  double score_rounding = 0;  ///< by how much float32 may move any score

  /// Whether float32 in another order of summation may rightly prefer another class.
  bool within_rounding() const { return !(gap > rounding); }
};

class ReferenceNetwork {
 public:
  /// Both must outlive this. `weights` needs the layers that are run.
  ReferenceNetwork(const Network& network, const NetworkWeights& weights) : network_(network), weights_(weights) {}

  /// Runs `count` images (NCHW, raw pixels) through the layers before `end` and writes what enters that layer, or what
  /// leaves the last one, to `activations` (NCHW). A few images at a time, on all cores.
  void activations(std::size_t end, int count, const float* images, float* activations) const;

  /// The classes of `count` images: the largest of the values that leave the last layer, a softmax left out.
  /// `progress` is told how many images are done.
  std::vector<ReferencePrediction> predictions(int count, const float* images,
                                               const std::function<void(int)>& progress = {}) const;

 private:
  void run_layers(std::size_t end, int count, std::vector<float>& values) const;
  /// The layer whose values are the scores: the last one, or the one before a softmax.
  std::size_t score_layer() const;

  const Network& network_;
  const NetworkWeights& weights_;
};

/// Runs `count` images (NCHW, of the network's input shape) through the layers before `layer_index`, with the weights
/// that `initial_weights(network, seed)` gives them, and writes what enters that layer to `activations` (NCHW).
void upstream_activations(const Network& network, std::size_t layer_index, int count, const float* images,
                          std::uint64_t seed, float* activations);

/// The largest value's index, of equal ones the first; a NaN is never the largest. 0 if all are NaN.
int largest_index(const float* values, std::size_t count);

}  // namespace convladder
