// Grey images with labels, and the batches of them that networks take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convladder {

/// `count` images of `height` x `width` grey pixels (0..255), row by row, image after image, with a label each.
struct ImageSet {
  std::string name;    ///< catalogue name ("MNIST test"), "synthetic", or "unknown IDX files"
  std::string source;  ///< file name without its folder, or how the images were generated
  std::string sha256;  ///< of the uncompressed image file, or of the generated pixels
  int count = 0;
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;      ///< one per image
  std::vector<std::string> class_names;  ///< by label; empty if not known

  const std::uint8_t* image(int index) const {
    return pixels.data() + static_cast<std::size_t>(index) * height * width;
  }
};

/// Writes `count` images from the set's image `first` on to `to`, NCHW floats: resized bilinearly, raw 0..255, the grey
/// value in every channel. A set with fewer images begins again from its first.
void fill_image_batch(const ImageSet& images, int first, int count, int channels, int height, int width, float* to);

}  // namespace convladder
