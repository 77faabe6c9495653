// Adding one value per channel on the CPU.
#include "variants/function_variant.hpp"
#include "variants/layer_problem.hpp"
#include "variants/operator_tolerances.hpp"

namespace convladder {
namespace {

void add_bias(int images, int channels, int pixels, const float* input, const float* bias, float* output) {
#pragma omp parallel for collapse(2) schedule(static)
  for (int image = 0; image < images; ++image) {
    for (int channel = 0; channel < channels; ++channel) {
      const std::size_t plane = (static_cast<std::size_t>(image) * channels + channel) * pixels;
      const float value = bias[channel];
#pragma omp simd
      for (int i = 0; i < pixels; ++i) output[plane + i] = input[plane + i] + value;
    }
  }
}

ReadyCall bias(const ProblemSize& size, const ProblemTensors& tensors) {
  return [images = size.batch, image = image_of(size), input = tensors.input(), bias = tensors.constant(),
          output = tensors.output()] {
    add_bias(images, image.channels, image.height * image.width, input, bias, output);
  };
}

const VariantRegistration registration{"bias",
                                       {.family = "cpu",
                                        .rung = 1,
                                        .name = "vector",
                                        .title = "Vectorised",
                                        .builds_on = "",
                                        .hypothesis = "Plane by plane with the widest vectors."},
                                       function_variant({.ready = bias, .tolerance = tolerance::bias})};

}  // namespace
}  // namespace convladder
