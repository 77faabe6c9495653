// A batch of images as a network takes it.
#pragma once

#include "datasets/image_set.hpp"

namespace convladder {

/// Writes `count` images from the set's image `first` on to `to`, NCHW floats: resized bilinearly, raw 0..255, the grey
/// value in every channel. A set with fewer images begins again from its first.
void fill_image_batch(const ImageSet& images, int first, int count, int channels, int height, int width, float* to);

}  // namespace convladder
