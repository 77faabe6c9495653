// A convolution as a matrix product over tiles of bf16 parts. Stages 13 and 14 share it.
//
// The left tiles are weights, 16 maps x 32 taps; the right ones input, 32 taps x 16 pixels; the sums 16 maps x 16
// pixels in fp32. As in stage 8 the second matrix is written down a panel at a time: 32 pixels, the taps of so many
// channels that panel and weights stay in the caches while all maps use them. A piece of the input is cut into its
// parts once, before it is copied for each tap. Four tiles of sums, two of weights and two of pixels fill the eight
// registers. A step takes 32 taps: one product of parts after the other, in an order in which each shares a factor with
// the one before, so that six products of four tiles load 14 tiles. Who has no 16 maps, 32 taps or 16 pixels multiplies
// zeros.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cpu/input_tile.hpp"
#include "variants/convolution/cpu/part_products.hpp"
#include "variants/convolution/cpu/tile_instructions.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

class TileConvolution {
 public:
  /// `weights` OIHW. There must be a tile unit (`tile_unit`). Throws DeviceError where the system refuses it.
  TileConvolution(const ConvShape& shape, const float* weights, PartProducts products);

  /// `input` and `output` NCHW, all cores used.
  void convolve(const float* input, float* output);

  /// Products of two tiles that a call makes.
  std::int64_t tile_products() const;
  std::string choice() const;

 private:
  /// Lanes of a tile's pixels that belong to one output row. Their inputs lie side by side in the input tile.
  struct Piece {
    int from;        ///< the input of its first lane's first tap
    int first_lane;  ///< up to the next piece, or the last lane
  };
  /// The channels of a panel.
  struct Block {
    int first_channel;
    int channels;
    int steps;       ///< of 32 taps
    int first_step;  ///< among those of all blocks
  };
  /// What a thread works in.
  struct Workspace {
    InputTile tile;
    std::vector<std::uint16_t> parts;   ///< of what is in the tile: all of a part, then the next
    AlignedWords<std::uint32_t> panel;  ///< [tile of a pair][step][pair of taps][part][pixel]
    AlignedFloats sums;                 ///< of the taps so far, [tile of maps][tile of the part's pixels][map][pixel]
  };
  /// A part of the pixels of one image, and a part of the maps of one group, with all channels.
  struct Task {
    const float* input;  ///< first channel of the group, of the image
    float* output;       ///< first map of the group, of the image
    int group;
    int part;  ///< of the pixels
    int first_map_tile;
    int end_map_tile;
  };
  struct FillPanel;

  static int channels_of_panel(const ConvShape& shape);
  void divide(int threads);
  void pack(const float* weights);
  void add_pieces();
  /// Output rows that so many tiles of pixels touch, at most.
  int rows_of(int pixel_tiles) const;
  int first_row(int part) const;

  Workspace workspace() const;
  Task task(std::int64_t index, const float* input, float* output) const;
  template <typename Tiles>
  void run_all(const float* input, float* output);
  template <typename Tiles>
  void run(Tiles& tiles, Workspace& work, const Task& task) const;
  void fill_tile(Workspace& work, const Block& block, int pixel_tile, std::uint32_t* to) const;
  void store(const Workspace& work, const Task& task, int map_tile, int pixel_tile) const;

  std::int64_t step_words() const { return std::int64_t{parts_} * kTileWords; }
  /// Of a tile's sums.
  std::int64_t sums_at(int map_tile, int pixel_tile_of_part) const {
    return (std::int64_t{map_tile} * part_tiles_ + pixel_tile_of_part) * kTileWords;
  }

  ConvShape shape_;
  PartProducts products_;
  int parts_;  ///< of each number that are multiplied
  bool is_emulated_;
  InstructionSet::Kind set_;  ///< of what cuts and copies
  int pixels_;
  int pixel_tiles_;
  int map_tiles_;  ///< of a group
  std::vector<Block> blocks_;
  int steps_ = 0;                        ///< of all blocks
  AlignedWords<std::uint32_t> weights_;  ///< [group][tile of maps][step][part][map][pair of taps]
  int pixel_parts_ = 1;
  int map_parts_ = 1;
  int part_tiles_ = 2;            ///< of pixels of a part, an even number; the last part may have fewer
  std::vector<int> first_piece_;  ///< of each tile of pixels, and the end of the last
  std::vector<Piece> pieces_;
  std::vector<int> tap_offsets_;  ///< of a panel's taps in the input tile
  std::vector<Workspace> workspaces_;
};

}  // namespace convladder
