// A convolution as a matrix product over tiles of bf16 parts. Stages 13 and 14 share it.
//
// The left tiles are weights, 16 maps x 32 taps; the right ones input, 32 taps x 16 pixels; the sums 16 maps x 16
// pixels in fp32. As in stage 8 the second matrix is written down a panel at a time: two or three tiles of pixels, with
// as many taps as stay in the first-level cache while all maps use it. A task has the sums of many tiles of pixels, of
// several images if they are small: so the weights of a panel's taps are read into the second-level cache once and then
// used again and again. The memory behind that cache could not keep up with the products. A step takes 32 taps: one
// product of parts after the other, in an order in which each shares a factor with the one before. Layers with fewer
// than 16 maps, 32 taps or 16 pixels multiply zeros.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/cpu/tile_unit.hpp"
#include "variants/accuracy.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cpu/bfloat16_parts.hpp"
#include "variants/convolution/cpu/paired_input.hpp"
#include "variants/convolution/cpu/tile_instructions.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

struct TileOfSums;

class TileConvolution {
 public:
  /// `weights` are OIHW. The processor must have a tile unit, or it must be emulated (`tile_unit`). Throws DeviceError
  /// where the system refuses it.
  TileConvolution(const ConvShape& shape, const float* weights, PartProducts products);

  /// Convolves `input` into `output`, both NCHW, using all cores.
  void convolve(const float* input, float* output);

  /// The number of products of two tiles that a call makes.
  std::int64_t tile_products() const;
  std::string choice() const;

 private:
  /// The taps of a panel.
  struct Block {
    int first_step;  ///< steps have 32 taps each
    int steps;
  };
  /// Planes of the input that are cut together, and the blocks of their taps.
  struct Slice {
    int first_plane;
    int planes;
    int first_block;
    int end_block;
  };
  /// A thread's workspace.
  struct Workspace {
    PairedInput input;
    AlignedWords<std::uint32_t> panel;  ///< PanelTile after PanelTile
    AlignedFloats sums;                 ///< sums of the taps so far, [tile of maps][tile of pixels][map][pixel]
  };
  /// A part of the pixels of some images, and a part of the maps of one group, with all channels.
  struct Task {
    const float* input;  ///< first channel of the group in the first image
    float* output;       ///< first map of the group in the first image
    int images;
    int group;
    int part;  ///< number of the part of the pixels
    int first_map_tile;
    int end_map_tile;
  };

  void divide(int threads);
  void add_slices();
  void pack(const float* weights);
  void add_pieces();
  /// Output rows that `pixel_tiles` tiles of pixels touch, at most.
  int rows_of(int pixel_tiles) const;
  int first_row(int part) const;
  /// Words of one part of an input plane for `rows` output rows.
  std::int64_t plane_words(int rows) const;

  Workspace workspace() const;
  Task task(std::int64_t index, const float* input, float* output) const;
  template <typename Tiles>
  void run_all(const float* input, float* output);
  template <typename Tiles>
  void run(Tiles& tiles, Workspace& work, const Task& task) const;
  template <typename Tiles>
  void add_panel(Tiles& tiles, Workspace& work, const Task& task, const Slice& slice, const Block& block,
                 int first_tile, int tiles_of_panel) const;
  /// Which image a tile of a task belongs to, and which of the image's pixel tiles it is.
  struct TileOfTask {
    int image;
    int pixel_tile;
  };
  TileOfTask tile_of(const Task& task, int tile) const;
  /// Tiles of pixels of the task's part in one image.
  int tiles_of(const Task& task) const;
  void fill_tile(Workspace& work, const Slice& slice, const Block& block, const TileOfTask& tile,
                 std::uint32_t* to) const;
  /// The first output of a tile of maps and a tile of pixels.
  float* output_at(const Task& task, int map_tile, const TileOfTask& tile) const;
  /// Where a block's sums come from and go to. The sums of the last block go straight to the output if the whole tile
  /// exists there.
  TileOfSums sums_of(Workspace& work, const Task& task, const Block& block, int map_tile, int tile,
                     const TileOfTask& of_task) const;
  void store(const float* sums, const Task& task, int map_tile, const TileOfTask& tile) const;

  std::int64_t step_words() const { return std::int64_t{parts_} * kTileWords; }
  /// Place of a block's weights for a tile of maps.
  std::int64_t weights_at(std::int64_t group, const Block& block, std::int64_t map_tile) const {
    return ((group * steps_ + block.first_step) * map_tiles_ + map_tile * block.steps) * step_words();
  }
  /// Steps of the largest panel.
  std::int64_t panel_steps() const;
  std::int64_t tasks() const;

  ConvShape shape_;
  PartProducts products_;
  int parts_;  ///< parts of each number that are multiplied
  bool is_emulated_;
  InstructionSet::Kind set_;  ///< instruction set of the code that cuts and copies
  int pixels_;
  int pixel_tiles_;
  int map_tiles_;  ///< tiles of a group's maps
  std::vector<TapPair> pairs_;
  int whole_pairs_;
  int steps_;
  int most_steps_;  ///< steps of a panel, at most
  std::vector<Block> blocks_;
  std::vector<Slice> slices_;
  AlignedWords<std::uint32_t> weights_;  ///< [group][block][tile of maps][step][part][map][pair of taps]
  int panel_tiles_;                      ///< tiles of pixels of a panel
  int map_parts_ = 1;
  int pixel_parts_ = 1;
  int images_ = 1;                ///< images of a task; the last task may have fewer
  int part_tiles_ = 1;            ///< tiles of pixels of a part; the last part may have fewer
  std::vector<int> first_piece_;  ///< first piece of each tile of pixels, and the end of the last
  std::vector<TilePiece> pieces_;
  std::vector<int> offsets_;  ///< offset of each pair's words from the first plane of its group
  std::vector<Workspace> workspaces_;
};

/// Whether six products on the processor's tiles are faster than fp32 in vectors: for layers of many maps, which share
/// the copies of the input, and of many taps, which share the loads and stores of the sums, whatever the number of
/// images. False where narrower vectors were asked for: that request stands for a processor without tiles too.
inline bool tiles_suit(const ConvShape& s) {
  constexpr int kManyMaps = 64;
  constexpr int kManyTaps = 512;
  return tile_unit() == TileUnit::processor && chosen_instruction_set().kind == InstructionSet::Kind::avx512 &&
         s.maps_per_group() >= kManyMaps && s.channels_per_group() * s.kernel * s.kernel >= kManyTaps;
}

inline std::string no_tile_unit(const ConvShape& /*shape*/) { return why_no_tile_unit(); }

/// A TileConvolution as a stage: where it runs, its class of accuracy, its rate.
template <PartProducts kProducts>
class TileStage {
 public:
  TileStage(const ConvShape& shape, const float* weights) : convolution_(shape, weights, kProducts) {}
  void convolve(const float* input, float* output) { convolution_.convolve(input, output); }
  std::string choice() const { return convolution_.choice(); }

  /// The stage's tolerance. With three products: 3 * 2^-16 for the products that are left out, and some for the sums.
  static double tolerance() { return kProducts == PartProducts::six ? kFloat32Tolerance : 5e-5; }
  static double rate_over_fma() { return 16.0 / static_cast<int>(kProducts); }
  static std::string why_untimed() {
    return tile_unit() == TileUnit::emulated ? "its tile instructions are emulated (CONVLADDER_AMX)" : "";
  }

 private:
  TileConvolution convolution_;
};

}  // namespace convladder
