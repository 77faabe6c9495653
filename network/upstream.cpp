#include "network/upstream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "network/weights.hpp"
#include "variants/reference.hpp"

namespace convladder {
namespace {

constexpr int kChunk = 64;  // images: a few megabytes of activations at a time

void apply_tanh(std::vector<float>& values) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::tanh(values[i]);
}

void apply_relu(std::vector<float>& values) {
  for (float& value : values) value = std::max(value, 0.0F);
}

std::vector<float> max_pooled(const Layer& layer, int count, const std::vector<float>& input) {
  std::vector<float> output(layer.output.elements() * count);
  const int planes = layer.input.channels * count;
  for (int plane = 0; plane < planes; ++plane) {
    const float* const from = input.data() + static_cast<std::size_t>(plane) * layer.input.height * layer.input.width;
    float* to = output.data() + static_cast<std::size_t>(plane) * layer.output.height * layer.output.width;
    for (int row = 0; row < layer.output.height; ++row) {
      for (int column = 0; column < layer.output.width; ++column) {
        const float* const corner = from + row * layer.pool_stride * layer.input.width + column * layer.pool_stride;
        float largest = corner[0];
        for (int p = 0; p < layer.pool_size; ++p) {
          for (int q = 0; q < layer.pool_size; ++q) largest = std::max(largest, corner[p * layer.input.width + q]);
        }
        *to++ = largest;
      }
    }
  }
  return output;
}

}  // namespace

std::string upstream_unsupported(const Network& network, std::size_t layer_index) {
  for (std::size_t i = 0; i < layer_index; ++i) {
    const Layer& layer = network.layers[i];
    if (layer.type == LayerType::fully_connected || layer.type == LayerType::softmax) {
      return fmt::format("layer '{}' before it has weights that are not known without training", layer.name);
    }
  }
  return {};
}

void upstream_activations(const Network& network, std::size_t layer_index, int count, const float* images,
                          std::uint64_t seed, float* activations) {
  std::map<std::size_t, std::vector<float>> weights;
  for (std::size_t i = 0; i < layer_index; ++i) {
    if (network.layers[i].type == LayerType::convolution) {
      weights[i] = initial_convolution_weights(network, i, seed);
    }
  }
  const std::size_t image_elements = network.input.elements();
  const std::size_t result_elements = network.layers[layer_index].input.elements();
  for (int first = 0; first < count; first += kChunk) {
    const int images_now = std::min(kChunk, count - first);
    std::vector<float> values(images + first * image_elements, images + (first + images_now) * image_elements);
    for (std::size_t i = 0; i < layer_index; ++i) {
      const Layer& layer = network.layers[i];
      if (layer.type == LayerType::convolution) {
        std::vector<float> output(layer.output.elements() * images_now);
        reference_forward(layer.convolution, images_now, values.data(), weights[i].data(), output.data());
        values = std::move(output);
      } else if (layer.type == LayerType::tanh) {
        apply_tanh(values);
      } else if (layer.type == LayerType::relu) {
        apply_relu(values);
      } else if (layer.type == LayerType::max_pool) {
        values = max_pooled(layer, images_now, values);
      }
    }
    std::ranges::copy(values, activations + first * result_elements);
  }
}

}  // namespace convladder
