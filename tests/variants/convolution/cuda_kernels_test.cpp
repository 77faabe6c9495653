// Every CUDA variant on a real GPU against a sum in double. Skipped where there is none.
#if CONVLADDER_HAS_CUDA

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "devices/device_registry.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

struct Reference {
  std::vector<double> sum;
  std::vector<double> absolute_sum;  ///< of |x*w|: what rounding errors scale with
};

Reference reference(const ConvShape& shape, const std::vector<float>& x, const std::vector<float>& w) {
  Reference result;
  const int height = shape.out_height();
  const int width = shape.out_width();
  for (int image = 0; image < shape.batch; ++image) {
    for (int map = 0; map < shape.out_channels; ++map) {
      const int first_channel = map / shape.maps_per_group() * shape.channels_per_group();
      for (int pixel = 0; pixel < height * width; ++pixel) {
        double sum = 0;
        double absolute_sum = 0;
        for (int c = 0; c < shape.channels_per_group(); ++c) {
          for (int tap = 0; tap < shape.kernel * shape.kernel; ++tap) {
            const int row = pixel / width * shape.stride + tap / shape.kernel - shape.padding;
            const int column = pixel % width * shape.stride + tap % shape.kernel - shape.padding;
            if (row < 0 || row >= shape.height || column < 0 || column >= shape.width) continue;
            const std::size_t input =
                ((std::size_t(image) * shape.in_channels + first_channel + c) * shape.height + row) * shape.width +
                column;
            const std::size_t weight =
                (std::size_t(map) * shape.channels_per_group() + c) * shape.kernel * shape.kernel + tap;
            const double product = double{x[input]} * double{w[weight]};
            sum += product;
            absolute_sum += std::abs(product);
          }
        }
        result.sum.push_back(sum);
        result.absolute_sum.push_back(absolute_sum);
      }
    }
  }
  return result;
}

std::vector<ConvShape> shapes() {
  return {
      {2, 1, 28, 28, 50, 5},
      {300, 1, 28, 28, 7, 5},
      {2, 1, 72, 72, 12, 7},
      {2, 12, 33, 33, 24, 7},
      {260, 12, 33, 33, 3, 7},
      {1, 3, 227, 227, 8, 11, 4},
      {1, 96, 27, 27, 16, 5, 1, 2},
      {2, 256, 13, 13, 9, 3, 1, 1},
      {1, 1, 3, 1500, 2, 3, 1, 1},
      {257, 1, 3, 1100, 2, 3, 2, 1},
      {2, 6, 14, 14, 6, 3, 1, 1, 6},
      {300, 8, 7, 7, 4, 3, 2, 1, 2},
      {1, 3, 4, 4, 3000, 1},
      {1, 2, 60, 60, 3, 7, 8, 0},
      {1, 1, 30, 30, 2, 11, 1, 10},
      {3, 4, 19, 23, 5, 4, 3, 2},
      {1, 1, 1, 1, 1, 1},
      {2, 3, 9, 31, 5, 2, 2, 1},
  };
}

TEST(CudaKernels, ComputeTheConvolutionOnAGpu) {
  const std::vector<DeviceKind> kinds = device_kinds();
  const auto kind = std::ranges::find(kinds, std::string_view("cuda"), &DeviceKind::name);
  ASSERT_NE(kind, kinds.end());
  if (const std::string reason = kind->unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  const std::unique_ptr<Device> device = kind->open();

  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(-1.0F, 1.0F);
  for (const ConvShape& shape : shapes()) {
    ASSERT_EQ(shape_error(shape), "");
    std::vector<float> x(static_cast<std::size_t>(shape.input_elements()));
    std::vector<float> w(static_cast<std::size_t>(shape.weight_elements()));
    for (float& element : x) element = value(random);
    for (float& element : w) element = value(random);
    const Reference expected = reference(shape, x, w);

    const DeviceBuffer input = device->allocate(x.size() * sizeof(float), "input");
    const DeviceBuffer output = device->allocate(expected.sum.size() * sizeof(float), "output");
    device->copy_to_device(input.address(), x.data(), input.bytes());
    for (const ProblemVariant& registered : convolution_problem().variants()) {
      if (registered.info.family != "cuda" || !registered.variant->unsupported_reason(shape).empty()) continue;
      SCOPED_TRACE(std::string(registered.info.name) + " " + shape_name(shape));
      const auto prepared =
          registered.variant->prepare(*device, shape, conv_tensors(shape, input.floats(), w.data(), output.floats()));
      std::vector<float> y(expected.sum.size(), std::nanf(""));  // poison: what is not written shows
      device->copy_to_device(output.address(), y.data(), output.bytes());
      EXPECT_GT(device->time_ns([&] { prepared->run(); }), 0.0);
      device->copy_to_host(y.data(), output.address(), output.bytes());
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double error = std::abs(double{y[i]} - expected.sum[i]);
        if (!(error <= registered.variant->tolerance() * expected.absolute_sum[i])) ++wrong;  // NaN is wrong too
      }
      EXPECT_EQ(wrong, 0U) << "of " << y.size();
    }
  }
}

}  // namespace
}  // namespace convladder

#endif  // CONVLADDER_HAS_CUDA
