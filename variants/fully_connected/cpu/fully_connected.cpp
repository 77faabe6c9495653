// The fully connected layer on the CPU without a library, so that networks run in every build.
//
// Four outputs at a time: their weights stay in the cache while all images pass by, and each input that is loaded is
// multiplied by four weights.
#include <algorithm>

#include "variants/accuracy.hpp"
#include "variants/function_variant.hpp"
#include "variants/layer_shapes.hpp"

namespace convladder {
namespace {

constexpr int kStep = 512;   // inputs with sums of their own: chains stay short, vectorised or not
constexpr int kOutputs = 4;  // dot products that are computed at once

/// Computes the dot products over `length` of the `inputs` elements of `input` and of `count` <= kOutputs rows of
/// weights.
void dot_products(const float* input, const float* weights, int inputs, int length, int count, float* sums) {
  if (count < kOutputs) {
    for (int o = 0; o < count; ++o) {
      const float* const row = weights + static_cast<std::size_t>(o) * inputs;
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int i = 0; i < length; ++i) sum += row[i] * input[i];
      sums[o] = sum;
    }
    return;
  }
  const float* const row0 = weights;
  const float* const row1 = row0 + inputs;
  const float* const row2 = row1 + inputs;
  const float* const row3 = row2 + inputs;
  float sum0 = 0;
  float sum1 = 0;
  float sum2 = 0;
  float sum3 = 0;
#pragma omp simd reduction(+ : sum0, sum1, sum2, sum3)
  for (int i = 0; i < length; ++i) {
    sum0 += row0[i] * input[i];
    sum1 += row1[i] * input[i];
    sum2 += row2[i] * input[i];
    sum3 += row3[i] * input[i];
  }
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
}

void fully_connected(const FullyConnectedLayer& layer, const float* all_input, const float* all_weights,
                     const float* bias, float* all_output) {
  const int inputs = layer.inputs;
  const int outputs = layer.outputs;
#pragma omp parallel for schedule(static)
  for (int first = 0; first < outputs; first += kOutputs) {
    const int count = std::min(kOutputs, outputs - first);
    const float* const weights = all_weights + static_cast<std::size_t>(first) * inputs;
    for (int image = 0; image < layer.batch; ++image) {
      const float* const input = all_input + static_cast<std::size_t>(image) * inputs;
      float sums[kOutputs] = {};
      for (int step = 0; step < inputs; step += kStep) {
        float parts[kOutputs] = {};
        dot_products(input + step, weights + step, inputs, std::min(kStep, inputs - step), count, parts);
        for (int o = 0; o < kOutputs; ++o) sums[o] += parts[o];
      }
      float* const output = all_output + static_cast<std::size_t>(image) * outputs + first;
      for (int o = 0; o < count; ++o) output[o] = sums[o] + (bias != nullptr ? bias[first + o] : 0.0F);
    }
  }
}

ReadyCall ready(const ProblemSize& size, const ProblemTensors& tensors) {
  const FullyConnectedLayer layer = fully_connected_layer(size);
  return [layer, input = tensors.input(), weights = tensors.constant(), bias = bias_of(layer, tensors),
          output = tensors.output()] { fully_connected(layer, input, weights, bias, output); };
}

const VariantRegistration registration{
    "fully-connected",
    {.family = "cpu",
     .rung = 1,
     .name = "dot-products",
     .title = "Dot products",
     .builds_on = "",
     .hypothesis = "Four vectorised dot products at once; their weights stay in the cache for all images."},
    function_variant({.ready = ready, .tolerance = tolerance::fully_connected})};

}  // namespace
}  // namespace convladder
