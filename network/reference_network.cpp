#include "network/reference_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "variants/accuracy.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

constexpr int kChunk = 64;         // images: a few megabytes of activations at a time
constexpr int kImagesInCache = 8;  // of a chunk: a fully connected layer's weights pass over so many images at once

std::vector<float> convolved(const Layer& layer, const LayerConstants& weights, int count,
                             const std::vector<float>& input) {
  std::vector<float> output(layer.output.elements() * count);
  layer.size.problem->linear_reference(layer.size, weights.weights.data())
      ->rounded_sums(count, input.data(), output.data());
  if (!layer.bias) return output;
  const std::size_t pixels = static_cast<std::size_t>(layer.output.height) * layer.output.width;
  for (std::size_t i = 0; i < output.size(); ++i) output[i] += weights.bias[i / pixels % layer.output.channels];
  return output;
}

std::vector<float> max_pooled(const Layer& layer, int count, const std::vector<float>& input) {
  std::vector<float> output(layer.output.elements() * count);
  const int planes = layer.input.channels * count;
  const int size = layer.size.at("pool_size");
  const int stride = layer.size.at("pool_stride");
#pragma omp parallel for schedule(static)
  for (int plane = 0; plane < planes; ++plane) {
    const float* const from = input.data() + static_cast<std::size_t>(plane) * layer.input.height * layer.input.width;
    float* to = output.data() + static_cast<std::size_t>(plane) * layer.output.height * layer.output.width;
    for (int row = 0; row < layer.output.height; ++row) {
      for (int column = 0; column < layer.output.width; ++column) {
        const float* const corner = from + row * stride * layer.input.width + column * stride;
        float largest = corner[0];
        for (int p = 0; p < size; ++p) {
          for (int q = 0; q < size; ++q) largest = std::max(largest, corner[p * layer.input.width + q]);
        }
        *to++ = largest;
      }
    }
  }
  return output;
}

/// sum(x * w) + b of every output of a fully connected layer, and the same sums of absolute values.
ReferenceOutput fully_connected(const Layer& layer, const LayerConstants& weights, int count,
                                const std::vector<float>& input) {
  const std::size_t in = layer.input.elements();
  const std::size_t out = layer.output.elements();
  ReferenceOutput scores{std::vector<double>(out * count), std::vector<double>(out * count)};
  // All rows of weights meet a few images while those are in the cache.
#pragma omp parallel
  for (int first = 0; first < count; first += kImagesInCache) {
#pragma omp for schedule(static) nowait
    for (std::size_t o = 0; o < out; ++o) {
      const float* const row = weights.weights.data() + o * in;
      for (int image = first; image < std::min(count, first + kImagesInCache); ++image) {
        const float* const x = input.data() + image * in;
        double sum = 0;
        double magnitude = 0;
#pragma omp simd reduction(+ : sum, magnitude)
        for (std::size_t i = 0; i < in; ++i) {
          const double product = double{x[i]} * double{row[i]};
          sum += product;
          magnitude += std::abs(product);
        }
        const double bias = layer.bias ? weights.bias[o] : 0.0;
        scores.value[image * out + o] = sum + bias;
        scores.magnitude[image * out + o] = magnitude + std::abs(bias);
      }
    }
  }
  return scores;
}

template <typename Number>
void softmax(std::span<Number> values, std::size_t classes) {
  for (std::size_t first = 0; first < values.size(); first += classes) {
    const auto image = values.subspan(first, classes);
    const double largest = *std::ranges::max_element(image);
    double sum = 0;
    for (const Number value : image) sum += std::exp(value - largest);
    for (Number& value : image) value = static_cast<Number>(std::exp(value - largest) / sum);
  }
}

ReferencePrediction prediction_of(std::span<const double> scores, std::span<const double> magnitudes, int layers) {
  ReferencePrediction prediction;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[prediction.best]) prediction.best = static_cast<int>(i);
  }
  double second = -std::numeric_limits<double>::infinity();
  prediction.second = prediction.best;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (static_cast<int>(i) == prediction.best || !(scores[i] > second)) continue;
    second = scores[i];
    prediction.second = static_cast<int>(i);
  }
  prediction.gap = scores[prediction.best] - (scores.size() > 1 ? second : scores[prediction.best]);
  // Both scores err, each by as much as the layers before it and its own sum may err.
  prediction.rounding = kFloat32Tolerance * layers * (magnitudes[prediction.best] + magnitudes[prediction.second]);
  prediction.score_rounding = kFloat32Tolerance * layers * *std::ranges::max_element(magnitudes);
  return prediction;
}

}  // namespace

int largest_index(const float* values, std::size_t count) {
  std::size_t largest = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (values[i] > values[largest] || std::isnan(values[largest])) largest = i;
  }
  return std::isnan(values[largest]) ? 0 : static_cast<int>(largest);
}

ReferenceNetwork::ReferenceNetwork(const Network& network, const NetworkWeights& weights)
    : network_(network), constants_(network.layers.size()) {
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    const auto of_layer = weights.layers.find(network.layers[i].name);
    if (of_layer != weights.layers.end()) constants_[i] = {of_layer->second.weights, of_layer->second.bias};
  }
}

void ReferenceNetwork::run_layers(std::size_t end, int count, std::vector<float>& values) const {
  for (std::size_t i = 0; i < end; ++i) {
    const Layer& layer = network_.layers[i];
    switch (layer.type) {
      case LayerType::convolution:
        values = convolved(layer, constants_[i], count, values);
        break;
      case LayerType::fully_connected: {
        const ReferenceOutput scores = fully_connected(layer, constants_[i], count, values);
        values.assign(scores.value.begin(), scores.value.end());
        break;
      }
      case LayerType::max_pool:
        values = max_pooled(layer, count, values);
        break;
      case LayerType::tanh:
#pragma omp parallel for schedule(static)
        for (std::size_t v = 0; v < values.size(); ++v) values[v] = std::tanh(values[v]);
        break;
      case LayerType::relu:
        for (float& value : values) value = std::max(value, 0.0F);
        break;
      case LayerType::softmax:
        softmax(std::span(values), layer.input.elements());
        break;
    }
  }
}

void ReferenceNetwork::activations(std::size_t end, int count, const float* images, float* activations) const {
  const std::size_t image_elements = network_.input.elements();
  const std::size_t result_elements = end == 0 ? image_elements : network_.layers[end - 1].output.elements();
  for (int first = 0; first < count; first += kChunk) {
    const int images_now = std::min(kChunk, count - first);
    std::vector<float> values(images + first * image_elements, images + (first + images_now) * image_elements);
    run_layers(end, images_now, values);
    std::ranges::copy(values, activations + first * result_elements);
  }
}

std::size_t ReferenceNetwork::score_layer() const {
  const std::size_t last = network_.layers.size() - 1;
  return last > 0 && network_.layers[last].type == LayerType::softmax ? last - 1 : last;
}

ReferenceOutput ReferenceNetwork::scores(int count, const float* images) const {
  const std::size_t scoring = score_layer();
  const Layer& layer = network_.layers[scoring];
  std::vector<float> values(images, images + static_cast<std::size_t>(count) * network_.input.elements());
  if (layer.type == LayerType::fully_connected) {
    run_layers(scoring, count, values);
    return fully_connected(layer, constants_[scoring], count, values);
  }
  // Scores that are no sums of their own: their size stands for that of the sums before.
  run_layers(scoring + 1, count, values);
  ReferenceOutput scores{{values.begin(), values.end()}, {}};
  for (const double value : scores.value) scores.magnitude.push_back(std::abs(value));
  return scores;
}

int ReferenceNetwork::layers_with_sums() const {
  return static_cast<int>(std::ranges::count_if(network_.layers, has_weights));
}

std::vector<ReferencePrediction> ReferenceNetwork::predictions(int count, const float* images,
                                                               const std::function<void(int)>& progress) const {
  const std::size_t image_elements = network_.input.elements();
  const std::size_t classes = network_.layers[score_layer()].output.elements();
  std::vector<ReferencePrediction> predictions;
  for (int first = 0; first < count; first += kChunk) {
    const int images_now = std::min(kChunk, count - first);
    const ReferenceOutput found = scores(images_now, images + first * image_elements);
    for (int image = 0; image < images_now; ++image) {
      predictions.push_back(prediction_of(std::span(found.value).subspan(image * classes, classes),
                                          std::span(found.magnitude).subspan(image * classes, classes),
                                          layers_with_sums()));
    }
    if (progress) progress(first + images_now);
  }
  return predictions;
}

ReferenceOutput ReferenceNetwork::output(const float* image) const {
  ReferenceOutput output = scores(1, image);
  const double roundings = kScoreRoundings * layers_with_sums();
  const double largest = roundings * *std::ranges::max_element(output.magnitude);
  const bool has_softmax = network_.layers.back().type == LayerType::softmax;
  if (has_softmax) softmax(std::span(output.value), output.value.size());
  for (std::size_t i = 0; i < output.value.size(); ++i) {
    // Where no score moves by more than r, no logarithm of a softmax moves by more than 2 r; and the step has an error
    // of its own.
    output.magnitude[i] = has_softmax ? std::abs(output.value[i]) * (2 * largest + roundings) : largest;
  }
  return output;
}

void upstream_activations(const Network& network, std::size_t layer_index, int count, const float* images,
                          std::uint64_t seed, float* activations) {
  NetworkWeights weights;
  for (std::size_t i = 0; i < layer_index; ++i) {
    const Layer& layer = network.layers[i];
    if (has_weights(layer)) weights.layers[layer.name] = initial_layer_weights(network, i, seed);
  }
  ReferenceNetwork(network, weights).activations(layer_index, count, images, activations);
}

}  // namespace convladder
