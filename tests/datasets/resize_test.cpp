#include "datasets/resize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace convladder {
namespace {

std::vector<float> resized(const std::vector<std::uint8_t>& image, int height, int width, int out_height,
                           int out_width) {
  std::vector<float> out(static_cast<std::size_t>(out_height) * out_width, -1.0F);
  resize_bilinear(image.data(), height, width, out.data(), out_height, out_width);
  return out;
}

std::vector<std::uint8_t> ramp(int size) {
  std::vector<std::uint8_t> image(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::uint8_t>(i * 89 + i * i * 7);
  return image;
}

TEST(Resize, SameSizeIsAnExactCopy) {
  const std::vector<std::uint8_t> image = ramp(28 * 28);
  const std::vector<float> out = resized(image, 28, 28, 28, 28);
  EXPECT_TRUE(std::equal(image.begin(), image.end(), out.begin(), out.end()));
}

// By hand: twice the size samples at -0.25 (clamped to 0), 0.25, 0.75 and 1.25 (clamped to 1).
TEST(Resize, TwiceTheSizeByHand) {
  const std::vector<float> expected = {0,   12.5F,  37.5F,  50,   //
                                       25,  37.5F,  62.5F,  75,   //
                                       75,  87.5F,  112.5F, 125,  //
                                       100, 112.5F, 137.5F, 150};
  const std::vector<std::uint8_t> image = {0, 50, 100, 150};
  const std::vector<float> out = resized(image, 2, 2, 4, 4);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

// By hand: half the size samples at 0.5 and 2.5, the middle of each pair.
TEST(Resize, HalfTheSizeByHand) {
  EXPECT_EQ(resized({10, 20, 30, 50}, 1, 4, 1, 2), (std::vector<float>{15, 40}));
  EXPECT_EQ(resized({10, 20, 30, 50}, 4, 1, 2, 1), (std::vector<float>{15, 40}));
}

// By hand: 3 -> 2 samples at 0.25 and 1.75.
TEST(Resize, AFractionByHand) { EXPECT_EQ(resized({0, 100, 200}, 1, 3, 1, 2), (std::vector<float>{25, 175})); }

TEST(Resize, OnePixelFillsAll) {
  EXPECT_EQ(resized({77}, 1, 1, 3, 5), std::vector<float>(15, 77.0F));
  EXPECT_EQ(resized({0, 100, 200, 60}, 2, 2, 1, 1), std::vector<float>{90.0F});
}

// Computed with numpy in float64 from the formula in resize.hpp, with its own indexing:
//   p = clip((arange(m) + 0.5) * n / m - 0.5, 0, n - 1); f = floor(p); weights 1 - (p - f) and p - f
TEST(Resize, AgreesWithNumpy) {
  const std::vector<float> expected = {0.0F,   48.0F,  114.3333F, 187.6667F, 140.0F, 74.0F,  84.8F, 92.8F,
                                       105.8F, 125.8F, 127.2F,    123.6F,    212.0F, 160.0F, 93.0F, 33.0F,
                                       108.0F, 198.0F, 166.4F,    131.2F,    86.6F,  49.0F,  69.6F, 99.6F,
                                       136.0F, 112.0F, 82.33333F, 59.66667F, 44.0F,  34.0F};
  const std::vector<float> out = resized(ramp(3 * 4), 3, 4, 5, 6);
  ASSERT_EQ(out.size(), expected.size());
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-4F) << i;
}

// The course's enlargement, 28 x 28 to 72 x 72: some pixels and the sum, from the same numpy.
TEST(Resize, AgreesWithNumpyOnTheCoursesSize) {
  const std::vector<float> out = resized(ramp(28 * 28), 28, 28, 72, 72);
  const auto at = [&](int row, int column) { return out[static_cast<std::size_t>(row) * 72 + column]; };
  EXPECT_NEAR(at(0, 0), 0.000000, 1e-4);
  EXPECT_NEAR(at(0, 1), 8.000000, 1e-4);
  EXPECT_NEAR(at(1, 35), 47.851852, 1e-4);
  EXPECT_NEAR(at(17, 3), 165.425926, 1e-4);
  EXPECT_NEAR(at(36, 36), 125.296296, 1e-4);
  EXPECT_NEAR(at(40, 71), 215.000000, 1e-4);
  EXPECT_NEAR(at(70, 70), 86.277778, 1e-4);
  EXPECT_NEAR(at(71, 0), 196.000000, 1e-4);
  EXPECT_NEAR(at(71, 71), 94.000000, 1e-4);
  double sum = 0;
  for (const float value : out) sum += value;
  EXPECT_NEAR(sum, 654523.6543, 0.1);
}

TEST(Resize, StaysWithinTheImagesRange) {
  const std::vector<std::uint8_t> image = ramp(28 * 28);
  for (const int size : {1, 7, 27, 29, 72, 227}) {
    for (const float value : resized(image, 28, 28, size, size)) {
      ASSERT_GE(value, 0.0F);
      ASSERT_LE(value, 255.0F);
    }
  }
}

}  // namespace
}  // namespace convladder
