// A whole network in float64: the reference for every run of the network.
//
// Written for trust, not for speed: the convolution is its problem's own, the other layers are
// loops. Activations are rounded to float32 between the layers, as they are stored in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "network/network.hpp"
#include "network/weights.hpp"
#include "variants/problem.hpp"

namespace convladder {

/// The number of roundings by which two right scores may differ: both err, and an operator by more than a convolution.
inline constexpr double kScoreRoundings = 4;

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
  /// Both must outlive this. `weights` needs the layers that are run; `constants` holds one entry for each layer.
  ReferenceNetwork(const Network& network, const NetworkWeights& weights);
  ReferenceNetwork(const Network& network, std::vector<LayerConstants> constants)
      : network_(network), constants_(std::move(constants)) {}

  /// Runs `count` images (NCHW, raw pixels) through the layers before `end` and writes what enters that layer, or what
  /// leaves the last one, to `activations` (NCHW). A few images at a time, on all cores.
  void activations(std::size_t end, int count, const float* images, float* activations) const;

  /// The classes of `count` images: the largest of the values that leave the last layer, a softmax left out.
  /// `progress` is told how many images are done.
  std::vector<ReferencePrediction> predictions(int count, const float* images,
                                               const std::function<void(int)>& progress = {}) const;

  /// The values that leave the last layer for one image, with the scale of their errors: times a tolerance of all
  /// layers, that is by how much their roundings may move a value.
  ReferenceOutput output(const float* image) const;

 private:
  /// The values of the score layer for some images, and the sums of |x * w| behind them.
  ReferenceOutput scores(int count, const float* images) const;
  int layers_with_sums() const;
  void run_layers(std::size_t end, int count, std::vector<float>& values) const;
  /// The layer whose values are the scores: the last one, or the one before a softmax.
  std::size_t score_layer() const;

  const Network& network_;
  std::vector<LayerConstants> constants_;  ///< by layer
};

/// Runs `count` images (NCHW, of the network's input shape) through the layers before `layer_index`, with the weights
/// that `initial_weights(network, seed)` gives them, and writes what enters that layer to `activations` (NCHW).
void upstream_activations(const Network& network, std::size_t layer_index, int count, const float* images,
                          std::uint64_t seed, float* activations);

/// The largest value's index, of equal ones the first; a NaN is never the largest. 0 if all are NaN.
int largest_index(const float* values, std::size_t count);

}  // namespace convladder
