#include "variants/convolution/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "variants/convolution/conv_test_data.hpp"

namespace convladder {
namespace {

/// The definition in conv_shape.hpp, tap by tap, for one output of one image.
struct ByDefinition {
  double value = 0;
  double magnitude = 0;
};

ByDefinition one_output(const ConvShape& s, const float* x, const float* w, int m, int oh, int ow) {
  const auto pixel = [&](int c, int row, int column) {
    const bool inside = row >= 0 && row < s.height && column >= 0 && column < s.width;
    return inside ? double{x[(c * s.height + row) * s.width + column]} : 0.0;
  };
  const int channels = s.in_channels / s.groups;
  const int group = m / (s.out_channels / s.groups);
  ByDefinition sum;
  for (int c = 0; c < channels; ++c) {
    for (int p = 0; p < s.kernel; ++p) {
      for (int q = 0; q < s.kernel; ++q) {
        const double product =
            pixel(group * channels + c, oh * s.stride + p - s.padding, ow * s.stride + q - s.padding) *
            w[((m * channels + c) * s.kernel + p) * s.kernel + q];
        sum.value += product;
        sum.magnitude += std::abs(product);
      }
    }
  }
  return sum;
}

std::vector<ConvShape> reference_shapes() {
  std::vector<ConvShape> list = {
      {1, 1, 28, 28, 3, 5},         {2, 12, 33, 33, 4, 7},     {1, 3, 47, 47, 5, 11, 4},  {1, 6, 13, 13, 4, 5, 1, 2},
      {1, 1, 1, 1, 1, 1},           {3, 2, 5, 5, 3, 5},        {1, 1, 1, 1, 2, 5, 1, 2},  {1, 4, 9, 7, 6, 3, 2, 1, 2},
      {2, 6, 8, 11, 6, 3, 1, 1, 6}, {1, 2, 3, 40, 2, 3, 1, 1}, {1, 2, 40, 3, 2, 3, 1, 1}, {1, 3, 10, 10, 4, 1, 4},
      {1, 1, 4, 4, 1, 4, 3, 3},     {1, 2, 6, 6, 2, 2, 7, 1},
  };
  for (int stride = 1; stride <= 4; ++stride) {
    for (int padding = 0; padding < 4; ++padding) list.push_back({1, 4, 9, 12, 2, 4, stride, padding, 2});
  }
  return list;
}

TEST(Reference, IsTheDefinitionForEveryStridePaddingAndGroup) {
  for (const ConvShape& shape : reference_shapes()) {
    ASSERT_EQ(shape_error(shape), "") << shape_name(shape);
    const ConvTestData data = random_data(shape, 3);
    const ReferenceOutput output = reference_convolution(shape, data.input.data(), data.weights.data());
    ASSERT_EQ(output.value.size(), static_cast<std::size_t>(shape.output_elements_per_image()));
    ASSERT_EQ(output.magnitude.size(), output.value.size());
    std::size_t i = 0;
    for (int m = 0; m < shape.out_channels; ++m) {
      for (int oh = 0; oh < shape.out_height(); ++oh) {
        for (int ow = 0; ow < shape.out_width(); ++ow, ++i) {
          const ByDefinition expected = one_output(shape, data.input.data(), data.weights.data(), m, oh, ow);
          // Both sum in float64, possibly in another order.
          ASSERT_LE(std::abs(output.value[i] - expected.value), 1e-13 * expected.magnitude)
              << shape_name(shape) << " map " << m << " row " << oh << " column " << ow;
          ASSERT_NEAR(output.magnitude[i], expected.magnitude, 1e-13 * expected.magnitude)
              << shape_name(shape) << " map " << m << " row " << oh << " column " << ow;
        }
      }
    }
  }
}

TEST(Reference, IsExactWhereFloat32CancelsToNothing) {
  const ConvShape shape{1, 1, 1, 3, 1, 1};
  const ConvShape row{1, 3, 1, 1, 1, 1};
  const float input[] = {16777216.0F, 1.0F, -16777216.0F};
  const float ones[] = {1.0F, 1.0F, 1.0F};
  EXPECT_EQ(reference_convolution(row, input, ones).value[0], 1.0);
  EXPECT_EQ(reference_convolution(row, input, ones).magnitude[0], 33554433.0);
  EXPECT_EQ(reference_convolution(shape, input, ones).value[2], -16777216.0);
}

TEST(Reference, MagnitudeIgnoresSignsAndPadding) {
  const ConvShape shape{1, 1, 2, 2, 1, 3, 1, 1};
  const float input[] = {1.0F, -2.0F, 3.0F, -4.0F};
  const float weights[] = {1, -1, 1, -1, 1, -1, 1, -1, 1};
  const ReferenceOutput output = reference_convolution(shape, input, weights);
  for (const double magnitude : output.magnitude) EXPECT_EQ(magnitude, 10.0);  // every output sees all four pixels
  EXPECT_EQ(output.value[0], 1 + 2 - 3 - 4);
}

TEST(Reference, ANotANumberInAnInputReachesItsOutputs) {
  const ConvShape shape{1, 1, 1, 3, 1, 1};
  const float input[] = {1.0F, std::nanf(""), 1.0F};
  const float weight[] = {2.0F};
  const ReferenceOutput output = reference_convolution(shape, input, weight);
  EXPECT_EQ(output.value[0], 2.0);
  EXPECT_TRUE(std::isnan(output.value[1]));
}

TEST(ReferenceForward, IsTheReferenceOfEveryImageRounded) {
  // Around the tiles' sizes: one map, five maps; one column, sixteen, seventeen; strides that do not divide.
  for (const ConvShape& shape :
       {ConvShape{3, 4, 9, 7, 6, 3, 2, 1, 2}, ConvShape{3, 1, 5, 20, 5, 5}, ConvShape{3, 2, 4, 21, 1, 5},
        ConvShape{3, 3, 29, 23, 4, 11, 4}, ConvShape{3, 2, 6, 6, 7, 1, 3}, ConvShape{3, 6, 5, 35, 10, 3, 1, 2, 2}}) {
    SCOPED_TRACE(shape_name(shape));
    const ConvTestData data = random_data(shape, 5);
    std::vector<float> output(static_cast<std::size_t>(shape.output_elements()), std::nanf(""));
    reference_forward(shape.with_batch(1), 3, data.input.data(), data.weights.data(), output.data());
    const auto elements = static_cast<std::size_t>(shape.output_elements_per_image());
    for (int image = 0; image < 3; ++image) {
      const ReferenceOutput expected = reference_convolution(
          shape, data.input.data() + image * shape.input_elements_per_image(), data.weights.data());
      for (std::size_t i = 0; i < elements; ++i) {
        ASSERT_EQ(output[image * elements + i], static_cast<float>(expected.value[i])) << "image " << image;
      }
    }
  }
}

TEST(ReferenceForward, WritesAsManyImagesAsAskedForAndNoMore) {
  const ConvShape shape{1, 1, 3, 3, 2, 2};
  const ConvTestData data = random_data(shape.with_batch(4), 6);
  std::vector<float> output(static_cast<std::size_t>(4 * shape.output_elements_per_image()), 77.0F);
  reference_forward(shape, 2, data.input.data(), data.weights.data(), output.data());
  const auto written = static_cast<std::size_t>(2 * shape.output_elements_per_image());
  for (std::size_t i = 0; i < output.size(); ++i) EXPECT_EQ(output[i] == 77.0F, i >= written) << i;
}

}  // namespace
}  // namespace convladder
