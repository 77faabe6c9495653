// Adding one value per channel on the CPU.
#include "variants/cpu_operator.hpp"
#include "variants/operator_tolerances.hpp"

namespace convladder {
namespace {

void bias(const OperatorShape& shape, const OperatorTensors& tensors) {
  const int channels = shape.input.channels;
  const int pixels = shape.input.height * shape.input.width;
#pragma omp parallel for collapse(2) schedule(static)
  for (int image = 0; image < shape.batch; ++image) {
    for (int channel = 0; channel < channels; ++channel) {
      const std::size_t plane = (static_cast<std::size_t>(image) * channels + channel) * pixels;
      const float value = tensors.bias[channel];
#pragma omp simd
      for (int i = 0; i < pixels; ++i) tensors.output[plane + i] = tensors.input[plane + i] + value;
    }
  }
}

const OperatorRegistration registration{{.family = "cpu",
                                         .type = OperatorType::bias,
                                         .name = "vector",
                                         .title = "Vectorised",
                                         .description = "Plane by plane with the widest vectors."},
                                        cpu_operator(bias, tolerance::bias)};

}  // namespace
}  // namespace convladder
