#include "network/weights.hpp"

#include <cmath>

#include "datasets/seeded_random.hpp"

namespace convladder {

std::vector<float> initial_convolution_weights(const ConvShape& shape, float scale, std::uint64_t seed) {
  const double taps = static_cast<double>(shape.kernel) * shape.kernel;
  const double limit = std::sqrt(6.0 / (taps * (shape.channels_per_group() + shape.maps_per_group())));
  SeededRandom random(seed, 0);
  std::vector<float> weights(static_cast<std::size_t>(shape.weight_elements()));
  for (float& weight : weights) {
    const double uniform = static_cast<double>(random.next() >> 11) * 0x1p-53;  // [0, 1), 53 random bits
    weight = static_cast<float>((2.0 * uniform - 1.0) * limit) * scale;
  }
  return weights;
}

std::vector<float> initial_convolution_weights(const Network& network, std::size_t layer_index, std::uint64_t seed) {
  const bool first = layer_index == convolution_layers(network).front();
  return initial_convolution_weights(network.layers[layer_index].convolution, first ? kPixelScale : 1.0F,
                                     seed + layer_index);
}

}  // namespace convladder
