#include "datasets/image_set.hpp"

#include <algorithm>

#include "datasets/resize.hpp"

namespace convladder {

void fill_image_batch(const ImageSet& images, int first, int count, int channels, int height, int width, float* to) {
  const std::size_t plane = static_cast<std::size_t>(height) * width;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; ++i) {
    float* const image = to + static_cast<std::size_t>(i) * channels * plane;
    resize_bilinear(images.image((first + i) % images.count), images.height, images.width, image, height, width);
    for (int channel = 1; channel < channels; ++channel) std::copy_n(image, plane, image + channel * plane);
  }
}

}  // namespace convladder
