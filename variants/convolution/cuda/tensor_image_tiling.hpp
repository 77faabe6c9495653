// How the stages whose fragments come from an image divide a layer: the host's side of their launch, without a device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "variants/configuration.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cuda/layer_sizes.hpp"

namespace convladder {

/// Taps of a fragment: those of one mma.m16n8k8 product in tf32.
inline constexpr int fragment_taps = 8;

/// The work of a block, passed to the kernel by value: 32 pixels for each of its warps, counted through the rows of the
/// output map, and all maps of a map tile. It walks over the input channels, `channels_per_step` at a time.
struct TensorImageTiling {
  int map_tiles;   ///< tiles that a group's output maps are divided into
  int plane_rows;  ///< rows of the input under the block's pixels
  int pitch;       ///< floats from row to row, padding included
  int channels_per_step;
  int steps;
  int fragments;  ///< fragments of 8 taps each in a step
};

/// How many tf32 numbers stand for one float: the float rounded, or that and the rest, also rounded.
enum class Tf32Parts { one = 1, two = 2 };

struct TensorImagePlan {
  int maps = 64;  ///< maps of a map tile: 64, 32 or 16
  TensorImageTiling tiling{};
  Dim3 grid;   ///< (image, group * map_tiles + map tile, pixel tile)
  Dim3 block;  ///< 2 to 8 warps
  std::size_t shared_bytes = 0;
};

/// The plan that leaves the fewest maps and pixels idle. `wanted` may set maps and warps.
TensorImagePlan tensor_image_plan(const ConvShape& shape, Tf32Parts parts, const Configuration& wanted = {});

/// All plans that fit into shared memory as complete configurations, the plan of `tensor_image_plan` first, then by the
/// number of idle maps and pixels.
std::vector<Configuration> tensor_image_configurations(const ConvShape& shape, Tf32Parts parts);

/// Empty if a GPU can launch that plan, otherwise why not.
std::string tensor_image_error(const ConvShape& shape, Tf32Parts parts);

/// The weights in the form that the kernels take: for each fragment of each step, for t = 0 to 3, the offsets of its
/// taps t and t + 4 in the image, bit by bit; then for each group, map tile, step and fragment, for each 16 maps and
/// each part, the weights of each lane, four of them, in the order of mma's fragment A.
std::vector<float> pack_for_tensor_image(const ConvShape& shape, const TensorImagePlan& plan, Tf32Parts parts,
                                         const float* weights);

/// "tiles of 32 maps x 256 pixels, 12 channels per step".
std::string tensor_image_choice(const TensorImagePlan& plan);

}  // namespace convladder
