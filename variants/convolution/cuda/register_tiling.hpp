// How the stages from the register tile on divide a layer: the host's side of their launch, without a device.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "variants/configuration.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cuda/layer_sizes.hpp"

namespace convladder {

/// A compiled kernel: filters of kernel x kernel, and `maps` output maps x `rows` rows of `pixels` neighbouring pixels
/// per thread.
struct RegisterTileSize {
  int kernel;
  int stride;
  int maps;    ///< weights are read four or two at a time where that divides this
  int pixels;  ///< pixels of one row
  int run;     ///< neighbours among these: all of them, or 4 where loads and stores are vectors of four
  int rows = 1;
};

/// The work of one block, passed to the kernel by value.
///
/// A block computes a tile of `rows` x (`strips` * pixels) output pixels of `map_groups` * maps output maps, with
/// rows * strips * map_groups threads of one register tile each; if register tiles have several rows, the block's tile
/// has that many times `rows`. It walks over the input channels, `channels_per_step` at a time, as many as fit into its
/// shared memory beside their weights.
struct RegisterTiling {
  int rows;
  int strips;
  int map_groups;
  int map_blocks;  ///< blocks that a group's output maps are divided into
  int channels_per_step;
  int pitch;             ///< floats from row to row of the input in shared memory, chosen against bank conflicts
  int images_per_block;  ///< images of a block, one behind the other; divides the batch
};

/// A tiling with the compiled kernel it is for, and its launch.
struct RegisterTilePlan {
  std::size_t compiled = 0;  ///< index into the list of compiled sizes
  RegisterTileSize size{};
  RegisterTiling tiling{};
  Dim3 grid;  ///< (images_per_block images, group * map_blocks + map block, tile)
  Dim3 block;
  std::size_t shared_bytes = 0;
};

/// Threads of a block at most. Two such blocks on a multiprocessor leave each thread 128 registers, which a tile of 80
/// sums fits into.
inline constexpr int register_tile_threads = 256;
inline constexpr int register_tile_blocks = 2;

/// The plan with the fewest counted instructions, among the compiled sizes with the layer's kernel and stride and among
/// all divisions: multiply-adds of idle lanes and of padding included, loads, copies and stores beside them. `wanted`
/// may leave fewer to choose from: maps, pixels, rows, strips, map_groups, channels (per step). None if there is no
/// such size, or if not even one row of one channel, or of the wanted channels, fits into shared memory.
std::optional<RegisterTilePlan> register_tile_plan(const ConvShape& shape, std::span<const RegisterTileSize> compiled,
                                                   const Configuration& wanted = {});

/// The plan as a complete configuration that `register_tile_plan` reads, with the images of a block if `with_images`.
Configuration register_tile_configuration(const RegisterTilePlan& plan, bool with_images);

/// A division by its maps, pixels, rows, strips and map_groups. Lists of them have the one with the fewest instructions
/// first.
struct RankedDivision {
  Configuration configuration;
  double cost = 0;   ///< counted instructions of one image and group
  int warps = 0;     ///< warps of a block
  int channels = 0;  ///< channels of a step, at most: as many as fit into the shared memory of a block
};
std::vector<RankedDivision> register_tile_divisions(const ConvShape& shape, std::span<const RegisterTileSize> compiled);

/// The images that a block computes one behind the other if a stage wants several: 4 or 2, if that divides the batch
/// evenly and leaves enough blocks for a large GPU, otherwise 1. Any even batch of 8 images or more gets at least 2.
int images_per_block(int batch);

/// The plan with `images` images per block, which divide the batch evenly.
RegisterTilePlan with_images_per_block(RegisterTilePlan plan, int images);

/// The plan with two buffers for a step's weights and inputs, with as many channels as then fit; none if not even one
/// fits.
std::optional<RegisterTilePlan> with_two_buffers(RegisterTilePlan plan);

/// Empty if `register_tile_plan` has a plan that a GPU can launch, otherwise why not.
std::string register_tile_error(const ConvShape& shape, std::span<const RegisterTileSize> compiled);

/// The weights in the order in which blocks read them: for each group and map block [c][p][q][map of the block], with
/// zeros for maps beyond the group's last.
std::vector<float> pack_for_register_tile(const ConvShape& shape, const RegisterTilePlan& plan, const float* weights);

/// "8 maps x 9 pixels per thread, 27 x 27 pixels x 24 maps per block, 3 channels per step".
std::string register_tile_choice(const RegisterTilePlan& plan);

}  // namespace convladder
