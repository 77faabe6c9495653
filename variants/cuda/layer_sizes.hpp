// What every stage of the CUDA ladder shares around its kernel: the sizes it passes and the limits of a launch.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "devices/device.hpp"
#include "variants/conv_shape.hpp"

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

/// What every GPU since compute capability 3.0 accepts ("Technical Specifications per Compute Capability" in the CUDA
/// programming guide): blocks along x, blocks along y or z, threads per block, and the shared memory a block gets
/// without asking the driver for more.
inline constexpr unsigned max_grid_x = 2147483647;
inline constexpr unsigned max_grid_yz = 65535;
inline constexpr int max_threads_per_block = 1024;
inline constexpr std::size_t max_shared_bytes = 48 * 1024;

inline int ceil_div(int dividend, int divisor) { return (dividend - 1) / divisor + 1; }

/// The grid (image, output map, tile) with tile x tile output pixels per block.
Dim3 tiled_grid(const ConvShape& shape, int tile);

/// Empty if a GPU accepts the grid, otherwise the limit it breaks.
std::string grid_error(Dim3 grid);

/// "the input tile needs 65536 bytes of shared memory, a block has 49152": why a stage refuses a shape.
std::string shared_memory_error(std::string_view what, std::size_t bytes);

}  // namespace convladder
