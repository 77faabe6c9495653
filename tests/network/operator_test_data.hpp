// Problems for the operators' tests: shapes that are hard, data, and one run on a device.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "network/network_steps.hpp"
#include "network/weights.hpp"
#include "support/seeded_random.hpp"
#include "variants/accuracy.hpp"
#include "variants/layer_problem.hpp"

namespace convladder {

struct OperatorTestData {
  std::vector<float> input;
  std::vector<float> weights;
  std::vector<float> bias;

  LayerWeights constants() const { return {weights, bias}; }
};

enum class OperatorNumbers {
  real,      ///< -8 to 8 in steps of 1/100
  integers,  ///< -8 to 8: fully connected layers come out exactly, in any order of sums
  positive,  ///< 0 to 8: sums grow, and with them what is rounded
};

inline OperatorTestData operator_test_data(const ProblemSize& size, OperatorNumbers numbers) {
  SeededRandom random(11, 3);
  const auto value = [&] {
    const int number = random.between(numbers == OperatorNumbers::positive ? 0 : -800, 800);
    return numbers == OperatorNumbers::integers ? static_cast<float>(number / 100)
                                                : static_cast<float>(number) / 100.0F;
  };
  OperatorTestData data{std::vector<float>(static_cast<std::size_t>(size.input_elements())), {}, {}};
  for (const ProblemTensor& constant : size.problem->constants(size)) {
    (constant.name == "bias" ? data.bias : data.weights).resize(static_cast<std::size_t>(constant.elements));
  }
  for (std::vector<float>* values : {&data.input, &data.weights, &data.bias}) {
    for (float& element : *values) element = value();
  }
  return data;
}

inline constexpr float kOperatorPoison = std::bit_cast<float>(0x7fd1e5a1U);

/// What the operator makes of the data in two calls, the output poisoned before each, or in place. `poisoned`: not
/// under a checker that is to see whether the kernel itself writes every element.
inline std::vector<float> operator_output(Device& device, const Variant& variant, const ProblemSize& size,
                                          const OperatorTestData& data, bool in_place, bool poisoned = true) {
  const DeviceBuffer input = device.allocate(data.input.size() * sizeof(float), "input");
  device.copy_to_device(input.address(), data.input.data(), input.bytes());
  std::vector<float> result(static_cast<std::size_t>(size.output_elements()), kOperatorPoison);
  const DeviceBuffer output = in_place ? DeviceBuffer() : device.allocate(result.size() * sizeof(float), "output");
  float* const destination = in_place ? input.floats() : output.floats();
  LayerWeights passing = data.constants();  // only valid during `prepare`
  const auto prepared = variant.prepare(device, size, step_tensors(size, passing, input.floats(), destination));
  passing = {};
  for (int call = 0; call < 2; ++call) {  // a call must not depend on what the one before left behind
    if (in_place) {
      device.copy_to_device(destination, data.input.data(), input.bytes());
    } else if (poisoned) {
      device.copy_to_device(destination, result.data(), output.bytes());
    }
    prepared->run();
    device.wait();
  }
  device.copy_to_host(result.data(), destination, result.size() * sizeof(float));
  return result;
}

/// Empty if every image of the output is right, otherwise the first that is not.
inline std::string operator_failure(const ProblemSize& size, const OperatorTestData& data,
                                    const std::vector<float>& output, double tolerance) {
  const LayerWeights constants = data.constants();
  for (int image = 0; image < size.batch; ++image) {
    const float* const input = data.input.data() + image * size.input_elements_per_item();
    const ReferenceOutput expected =
        size.problem->reference(size, step_tensors(size, constants, input, nullptr)).front();
    const std::string mismatch =
        output_mismatch(expected, output.data() + image * size.output_elements_per_item(), tolerance);
    if (!mismatch.empty()) return fmt::format("image {}: {}", image, mismatch);
  }
  return {};
}

inline ProblemSize same_shape(std::string_view problem, int batch, ActivationShape input) {
  return {find_problem(problem), batch, {input.channels, input.height, input.width}};
}

inline ProblemSize pool_shape(int batch, ActivationShape input, int size, int stride) {
  return {find_problem("max-pooling"), batch, {input.channels, input.height, input.width, size, stride}};
}

inline ProblemSize fully_connected_shape(int batch, ActivationShape input, int outputs, bool has_bias) {
  return {
      find_problem("fully-connected"), batch, {input.channels, input.height, input.width, outputs, has_bias ? 1 : 0}};
}

inline bool is_fully_connected(const ProblemSize& size) { return size.problem->name() == "fully-connected"; }

/// Sizes of the networks' layers and sizes that fit no tile, vector or warp.
inline std::vector<ProblemSize> operator_test_shapes(int batch) {
  std::vector<ProblemSize> shapes;
  for (const char* const type : {"tanh", "relu", "bias"}) {
    for (const ActivationShape& input : {ActivationShape{50, 24, 24},
                                         {24, 27, 27},
                                         {4, 80, 80},
                                         {1, 1, 1},
                                         {3, 1, 7},
                                         {5, 13, 11},
                                         {500, 1, 1},
                                         {1, 257, 1}}) {
      shapes.push_back(same_shape(type, batch, input));
    }
  }
  for (const int classes : {1, 2, 10, 31, 32, 33, 255, 257, 1000}) {
    shapes.push_back(same_shape("softmax", batch, {classes, 1, 1}));
  }
  shapes.push_back(same_shape("softmax", batch, {3, 5, 7}));
  shapes.push_back(pool_shape(batch, {50, 24, 24}, 2, 2));
  shapes.push_back(pool_shape(batch, {12, 66, 66}, 2, 2));
  shapes.push_back(pool_shape(batch, {16, 34, 34}, 4, 4));  // two columns are left over
  shapes.push_back(pool_shape(batch, {6, 55, 55}, 3, 2));   // windows overlap
  shapes.push_back(pool_shape(batch, {3, 13, 13}, 3, 2));
  shapes.push_back(pool_shape(batch, {2, 9, 21}, 2, 3));  // columns between the windows belong to none
  shapes.push_back(pool_shape(batch, {3, 7, 5}, 1, 1));
  shapes.push_back(pool_shape(batch, {1, 5, 5}, 5, 5));
  shapes.push_back(pool_shape(batch, {1, 1, 1}, 1, 2));
  for (const bool has_bias : {false, true}) {
    shapes.push_back(fully_connected_shape(batch, {50, 12, 12}, 50, has_bias));  // lenet28's, with fewer outputs
    shapes.push_back(fully_connected_shape(batch, {500, 1, 1}, 10, has_bias));
    shapes.push_back(fully_connected_shape(batch, {16, 8, 8}, 32, has_bias));
    shapes.push_back(fully_connected_shape(batch, {1, 1, 1}, 1, has_bias));
    shapes.push_back(fully_connected_shape(batch, {3, 7, 5}, 67, has_bias));
    shapes.push_back(fully_connected_shape(batch, {1, 1, 33}, 131, has_bias));
    shapes.push_back(fully_connected_shape(batch, {24, 29, 29}, 3, has_bias));  // the longest sums of the lenets
  }
  return shapes;
}

}  // namespace convladder
