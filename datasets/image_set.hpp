// Grey images with labels, from which the networks' inputs are made.
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

}  // namespace convladder
