// The image set that needs no download: drawn garments in the ten classes of Fashion-MNIST.
#pragma once

#include <cstdint>

#include "datasets/image_set.hpp"

namespace convladder {

/// The seed of the images that networks are trained on. Runs use other seeds, by default 1.
inline constexpr std::uint64_t kSyntheticTrainingSeed = 0x747261696e;  // "train"

/// `count` (at least 1) images of 28 x 28 pixels, with labels 0..9 and the class names of Fashion-MNIST. Every ten
/// images hold each class once, in random order. Proportions, position, shear, brightness, texture and noise are
/// random.
///
/// The same seed gives the same bytes on every machine: integer arithmetic only, and a generator of our own. Image i
/// depends on the seed and on i alone, so a smaller set is the beginning of a larger one, and all sets of a seed have
/// one hash: that of the first ten images.
ImageSet synthetic_images(int count, std::uint64_t seed);

}  // namespace convladder
