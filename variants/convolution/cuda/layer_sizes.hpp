// The sizes that every stage of the CUDA ladder passes to its kernel.
#pragma once

#include "devices/kernel_launch.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/kernel_launches.hpp"

namespace convladder {

/// The layer as a kernel parameter, passed by value. One image and the weights have fewer than 2^31 elements
/// (`shape_error`), so a kernel indexes inside them with 32 bits; only the step from image to image takes 64.
struct LayerSizes {
  int in_channels;
  int height;
  int width;
  int out_channels;
  int out_height;
  int out_width;
  int kernel;
  int stride;
  int padding;
  int channels_per_group;
  int maps_per_group;
};

LayerSizes layer_sizes(const ConvShape& shape);

/// The grid (image, output map, tile) with tile x tile output pixels per block.
Dim3 tiled_grid(const ConvShape& shape, int tile);

}  // namespace convladder
