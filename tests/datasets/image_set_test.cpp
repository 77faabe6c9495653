#include "datasets/image_set.hpp"

#include <gtest/gtest.h>

#include "datasets/resize.hpp"
#include "datasets/synthetic_images.hpp"

namespace convladder {
namespace {

TEST(ImageBatch, ResizesIntoEveryChannelAndBeginsAgain) {
  const ImageSet images = synthetic_images(3, 1);
  constexpr int kSize = 11;
  std::vector<float> batch(std::size_t{4} * 3 * kSize * kSize, -1.0F);
  fill_image_batch(images, 1, 4, 3, kSize, kSize, batch.data());
  std::vector<float> expected(kSize * kSize);
  for (int i = 0; i < 4; ++i) {
    resize_bilinear(images.image((1 + i) % 3), 28, 28, expected.data(), kSize, kSize);
    for (int channel = 0; channel < 3; ++channel) {
      const auto from = batch.begin() + (i * 3 + channel) * kSize * kSize;
      EXPECT_EQ(std::vector<float>(from, from + kSize * kSize), expected) << i << ' ' << channel;
    }
  }
}

}  // namespace
}  // namespace convladder
