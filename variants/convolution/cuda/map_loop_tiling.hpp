// How the stages from the block remap on divide a layer: the host's side of their launch, without a device.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cuda/layer_sizes.hpp"

namespace convladder {

/// The work of one block, passed to the kernel by value.
///
/// A block of 1024 threads walks over tiles of rows x columns output pixels. In each tile it walks over its output
/// maps, `maps_per_step` at a time, so that maps_per_step * rows * columns threads have one output each. For one step
/// it walks over the input channels, `channels_per_step` at a time, as many as fit into shared memory. If all of them
/// fit, the input is copied once per tile and serves every map.
struct MapLoopTiling {
  int rows;
  int columns;
  int maps_per_step;
  int maps_per_block;
  int channels_per_step;
};

/// A tiling and the launch it belongs to.
struct MapLoopPlan {
  MapLoopTiling tiling;
  Dim3 grid;  ///< (image, slice of the output maps, group)
  std::size_t shared_bytes;
};

/// From this many images on, one block per image and group is launched, (B, 1, 1), with the loop over all output maps
/// inside. With fewer images those blocks could not give every multiprocessor of a large GPU (up to 150) one or two,
/// and the maps are spread over the grid instead, (B, M, 1); where maps are small, a block takes one step of several.
inline constexpr int images_that_fill_a_gpu = 256;

/// The tiling with the fewest steps per thread, counting taps and copied elements, that fits into shared memory;
/// none if even a single row of output pixels of a single channel is too large.
std::optional<MapLoopPlan> map_loop_plan(const ConvShape& shape);

/// Empty if `map_loop_plan` has a plan that a GPU can launch, otherwise why not.
std::string map_loop_error(const ConvShape& shape);

}  // namespace convladder
