#include "variants/convolution/cuda/layer_sizes.hpp"

namespace convladder {
LayerSizes layer_sizes(const ConvShape& shape) {
  return {shape.in_channels,     shape.height, shape.width,  shape.out_channels, shape.out_height(),
          shape.out_width(),     shape.kernel, shape.stride, shape.padding,      shape.channels_per_group(),
          shape.maps_per_group()};
}

Dim3 tiled_grid(const ConvShape& shape, int tile) {
  // There are fewer tiles than output pixels, of which one map has fewer than 2^31.
  const int tiles = ceil_div(shape.out_height(), tile) * ceil_div(shape.out_width(), tile);
  return {static_cast<unsigned>(shape.batch), static_cast<unsigned>(shape.out_channels), static_cast<unsigned>(tiles)};
}

}  // namespace convladder
