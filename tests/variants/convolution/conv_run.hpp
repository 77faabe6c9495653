// A CPU variant of the convolution run on test data, and its result compared.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "devices/cpu/cpu_device.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/conv_test_data.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/convolution/reference.hpp"

namespace convladder {

inline ReferenceOutput reference_of_all_images(const ConvShape& shape, const ConvTestData& data) {
  ReferenceOutput all;
  for (int image = 0; image < shape.batch; ++image) {
    const ReferenceOutput one =
        reference_convolution(shape, data.input.data() + image * shape.input_elements_per_image(), data.weights.data());
    all.value.insert(all.value.end(), one.value.begin(), one.value.end());
    all.magnitude.insert(all.magnitude.end(), one.magnitude.begin(), one.magnitude.end());
  }
  return all;
}

/// What the variant makes of the data, on guarded memory, with the output poisoned before.
inline std::vector<float> convolved(const Variant& variant, const ConvShape& shape, const ConvTestData& data) {
  const float poison = std::bit_cast<float>(0x7fd1e5a1U);
  CpuDevice device;
  const DeviceBuffer input = device.allocate(data.input.size() * sizeof(float), "input");
  device.copy_to_device(input.address(), data.input.data(), input.bytes());
  std::vector<float> result(static_cast<std::size_t>(shape.output_elements()), poison);
  const DeviceBuffer output = device.allocate(result.size() * sizeof(float), "output");
  {
    std::vector<float> passing_weights = data.weights;  // only valid during `prepare`
    const auto prepared =
        variant.prepare(device, shape, conv_tensors(shape, input.floats(), passing_weights.data(), output.floats()));
    std::ranges::fill(passing_weights, std::nanf(""));
    for (int call = 0; call < 2; ++call) {  // a call must not depend on what the one before left behind
      device.copy_to_device(output.address(), std::vector<float>(result.size(), poison).data(), output.bytes());
      prepared->load_input();
      prepared->run();
      prepared->store_output();
      device.wait();
    }
  }
  device.copy_to_host(result.data(), output.address(), output.bytes());
  std::vector<float> input_after(data.input.size());
  device.copy_to_host(input_after.data(), input.address(), input.bytes());
  EXPECT_EQ(input_after, data.input) << "the input was changed";
  EXPECT_EQ(device.memory_violation(), "");
  return result;
}

inline void expect_within(const std::vector<float>& output, const ReferenceOutput& expected, double tolerance) {
  std::size_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const double error = std::abs(output[i] - expected.value[i]);
    if (!(error <= tolerance * expected.magnitude[i])) {  // a NaN is wrong
      if (wrong++ == 0) first = fmt::format("element {} is {:.9g}, not {:.9g}", i, output[i], expected.value[i]);
    }
  }
  EXPECT_EQ(wrong, 0U) << "of " << output.size() << "; first: " << first;
}

}  // namespace convladder
