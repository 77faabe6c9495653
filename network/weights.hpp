// The weights of a network: random ones before anyone has trained it, and those from a file.
//
// A weights file is a safetensors file with two tensors a layer, named as PyTorch names them: "<layer>.weight" and,
// where the layer has one, "<layer>.bias" (docs/use/weights.md).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "network/network.hpp"

namespace convladder {

/// Pixels enter the first layer with weights raw, 0..255; this factor in its weights brings them to 0..1.
inline constexpr float kPixelScale = 1.0F / 255.0F;

/// The weights (OIHW) of the convolution `layer_index`, uniform in +-sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio,
/// 2010), times kPixelScale for the network's first convolution. Depends on the seed and the layer's index only.
std::vector<float> initial_convolution_weights(const Network& network, std::size_t layer_index, std::uint64_t seed);

/// The weights (OIHW) of a convolution that stands alone, or of a fused one, uniform in
/// +-sqrt(6 / (fan_in + fan_out)), times `scale`.
std::vector<float> initial_convolution_weights(const ProblemSize& size, float scale, std::uint64_t seed);

/// A layer's weights. Of a convolution OIHW, I counting the channels of a group; of a fully connected layer [out][in],
/// its input flattened in the order channel, row, column. `bias` has a value for each output channel; empty where the
/// layer has none.
struct LayerWeights {
  std::vector<float> weights;
  std::vector<float> bias;
  bool operator==(const LayerWeights&) const = default;
};

/// A layer's weights where they lie, in the same order; empty where the layer has none.
struct LayerConstants {
  LayerConstants() = default;
  LayerConstants(std::span<const float> of_weights, std::span<const float> of_bias)
      : weights(of_weights), bias(of_bias) {}
  LayerConstants(const LayerWeights& of_layer) : weights(of_layer.weights), bias(of_layer.bias) {}

  std::span<const float> weights;
  std::span<const float> bias;
};

/// The origin of trained weights, as their file gives it; a field is empty where it does not.
struct WeightsOrigin {
  std::string network;     ///< "lenet72": on a grid another network's weights may fit
  std::string dataset;     ///< "mnist"
  std::string trained_on;  ///< "60000 images of MNIST train, tested on 10000 of MNIST test"
  std::string held_out;    ///< "accuracy 0.9871 (9871 of 10000, …)", on images that they were not trained on
  std::string from;        ///< "built in", "in the cache" or "from a file"
};

struct NetworkWeights {
  std::string name;                            ///< as shown: "lenet86 mnist high", "random, seed 1", or a file's name
  std::map<std::string, LayerWeights> layers;  ///< by layer name; only layers that have weights
  std::string sha256;                          ///< of the file they come from; empty if there is none
  WeightsOrigin origin = {};
};

/// Whether a layer has weights: convolutions and fully connected layers do.
bool has_weights(const Layer& layer);

/// The index of the first layer with weights, the one that kPixelScale goes into. The number of layers if none has any.
std::size_t first_layer_with_weights(const Network& network);

/// The shape of a layer's weights, OIHW or [out, in]; the layer must have weights.
std::vector<std::int64_t> weight_shape(const Layer& layer);

/// Random weights of one layer that has some, biases zero: initial_convolution_weights for a convolution, uniform in
/// +-sqrt(6 / (in + out)) by the seed and the layer's index for a fully connected layer.
LayerWeights initial_layer_weights(const Network& network, std::size_t layer_index, std::uint64_t seed);

/// Random weights of every layer that has some (initial_layer_weights).
NetworkWeights initial_weights(const Network& network, std::uint64_t seed);

/// Reads a weights file that is in memory; `file` is what messages call it. The weights' name is made of the metadata
/// "network", "dataset" and "quality" where the file has all three, otherwise it is the file's without its folder.
/// Throws UserError, one line: the file, the tensor, what was expected and what was found, where a tensor is missing,
/// of another shape, not finite or not known to the network, and where the file is not safetensors.
NetworkWeights parse_weights(const Network& network, std::span<const std::uint8_t> bytes, const std::string& file);

/// The bytes of a weights file. `weights` must be the network's own. The same content gives the same bytes. With a
/// `grid_side`, the layers that lie on a grid of so many cells (weight_grid.hpp) have one value for each cell, as F16.
std::string weights_file_content(const Network& network, const NetworkWeights& weights,
                                 const std::map<std::string, std::string>& metadata, int grid_side = 0);

}  // namespace convladder
