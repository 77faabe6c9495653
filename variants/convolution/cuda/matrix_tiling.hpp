// How the stages that multiply matrices divide a layer: the host's side of their launch, without a device.
//
// The convolution of one image and group is a product of matrices: W, output maps x taps, times X, taps x output
// pixels, where tap k = (c, p, q) of pixel (oh, ow) is input (c, oh*stride + p - padding, ow*stride + q - padding). X
// is never stored: blocks gather the tiles of it that they need ("implicit GEMM").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "variants/configuration.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cuda/layer_sizes.hpp"

namespace convladder {

/// A compiled kernel: the output maps x pixels of a block, which has a thread for each pixel.
struct MatrixTileSize {
  int maps;
  int pixels;
};

/// Taps that a block gathers and multiplies at a time.
inline constexpr int taps_per_step = 16;

/// Where a tap lies, relative to the first tap of a pixel. Taps that only fill the last step have a row and a column
/// far outside: they read as padding.
struct TapPlace {
  int offset;  ///< in elements: (c * height + p) * width + q
  std::int16_t row;
  std::int16_t column;
};

/// The table of taps stands before the weights, in their array.
inline constexpr int floats_per_tap_place = sizeof(TapPlace) / sizeof(float);

/// The work of a launch, passed to the kernel by value.
struct MatrixTiling {
  int taps;       ///< taps of one group's channels, rounded up to whole steps
  int map_tiles;  ///< tiles that a group's output maps are divided into
};

struct MatrixTilePlan {
  std::size_t compiled = 0;  ///< index into the list of compiled sizes
  MatrixTileSize size{};
  MatrixTiling tiling{};
  Dim3 grid;  ///< (image, group * map_tiles + map tile, pixel tile)
  Dim3 block;
};

/// The plan of the compiled size that wastes least on maps and pixels beyond the layer's, copies included, among those
/// that agree with `wanted`, maps and pixels; at least one must.
MatrixTilePlan matrix_tile_plan(const ConvShape& shape, std::span<const MatrixTileSize> compiled,
                                const Configuration& wanted = {});

/// All compiled sizes as complete configurations, with the one that wastes least first.
std::vector<Configuration> matrix_tile_configurations(const ConvShape& shape, std::span<const MatrixTileSize> compiled);

/// Empty if a GPU can launch that plan, otherwise why not.
std::string matrix_tile_error(const ConvShape& shape, std::span<const MatrixTileSize> compiled);

/// The weights in the form that the kernels take: a `TapPlace` for every tap, bit by bit, then for each group and map
/// tile [tap][map of the tile], with zeros for maps and taps that do not exist.
std::vector<float> pack_for_matrix_tile(const ConvShape& shape, const MatrixTilePlan& plan, const float* weights);

/// "tiles of 64 maps x 128 pixels".
std::string matrix_tile_choice(const MatrixTilePlan& plan);

}  // namespace convladder
