#include "variants/cuda/layer_sizes.hpp"

#include <fmt/format.h>

namespace convladder {
LayerSizes layer_sizes(const ConvShape& shape) {
  return {shape.in_channels,     shape.height, shape.width,  shape.out_channels, shape.out_height(),
          shape.out_width(),     shape.kernel, shape.stride, shape.padding,      shape.channels_per_group(),
          shape.maps_per_group()};
}

Dim3 tiled_grid(const ConvShape& shape, int tile) {
  // Fewer tiles than output pixels, of which one map has fewer than 2^31.
  const int tiles = ceil_div(shape.out_height(), tile) * ceil_div(shape.out_width(), tile);
  return {static_cast<unsigned>(shape.batch), static_cast<unsigned>(shape.out_channels), static_cast<unsigned>(tiles)};
}

std::string grid_error(Dim3 grid) {
  if (grid.x <= max_grid_x && grid.y <= max_grid_yz && grid.z <= max_grid_yz) return {};
  return fmt::format("a grid of {}x{}x{} blocks; a GPU allows at most {}x{}x{}", grid.x, grid.y, grid.z, max_grid_x,
                     max_grid_yz, max_grid_yz);
}

std::string shared_memory_error(std::string_view what, std::size_t bytes) {
  return fmt::format("{} need {} bytes of shared memory, but a block has {}", what, bytes, max_shared_bytes);
}

}  // namespace convladder
