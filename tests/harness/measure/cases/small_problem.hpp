// A small problem with its reference, and device memory to put outputs into.
#pragma once

#include <span>
#include <vector>

#include "datasets/synthetic_images.hpp"
#include "devices/cpu/cpu_device.hpp"
#include "harness/measure/cases/workload.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {

/// One of the program's own layers, with a batch.
inline LayerWork network_layer(const std::string& network, const std::string& layer, int batch) {
  for (const Network& candidate : built_in_networks()) {
    if (candidate.name != network) continue;
    for (const std::size_t index : convolution_layers(candidate)) {
      if (candidate.layers[index].name != layer) continue;
      return {network, layer, &candidate, index, candidate.layers[index].size.with_batch(batch)};
    }
  }
  throw std::runtime_error("no layer " + network + "." + layer);
}

inline LayerWork own_shape(const ConvShape& shape) { return {"shape", shape_name(shape), nullptr, 0, shape}; }

/// The data of a convolution.
struct ConvProblem {
  ConvShape shape;
  std::span<const float> input;    ///< NCHW
  std::span<const float> weights;  ///< OIHW
};

inline ConvProblem conv_problem(const ProblemData& data) {
  return {conv_shape(data.shape), data.input(), data.weights()};
}

/// What a right variant would leave in the output: the float64 sums, rounded.
inline std::vector<float> right_output(const ConvProblem& problem) {
  std::vector<float> output(static_cast<std::size_t>(problem.shape.output_elements()));
  reference_forward(problem.shape, problem.shape.batch, problem.input.data(), problem.weights.data(), output.data());
  return output;
}

/// A case of that variant of the CPU ladder.
inline PlannedCase planned_case(const LayerWork& work, std::string_view variant) {
  return {"cpu/" + std::string(variant) + "/" + work.name() + "/" + std::to_string(work.shape.batch),
          *find_variant(convolution_problem(), "cpu", variant),
          "cpu",
          work,
          {},
          {}};
}

}  // namespace convladder
