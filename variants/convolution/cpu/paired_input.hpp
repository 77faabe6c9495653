// The input of a convolution as bf16 parts, paired for tile instructions: a word holds the numbers of two taps.
//
// A tile's row holds the inputs of 16 outputs at two taps, side by side. Cut and paired once, they are copied for each
// tap with plain loads and stores. Two channels make a pair, at the same place; the last of an odd number of channels
// is paired with its own right neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cpu/input_tile.hpp"
#include "variants/convolution/cpu/tile_instructions.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// Two taps of a group's filters.
struct TapPair {
  int plane;       ///< of the input's words
  int kernel_row;  ///< of both
  int column;      ///< of the first
  int first;       ///< among the taps of a filter, in the order of the weights
  int second;      ///< -1: none
};

/// The pairs of all taps; those without a second come last.
std::vector<TapPair> tap_pairs(const ConvShape& shape);

/// Words of two numbers for rows of outputs of a few images, all phases of a few planes. One thread's.
class PairedInput {
 public:
  /// Planes of a group.
  static int planes_of_group(const ConvShape& shape) { return (shape.channels_per_group() + 1) / 2; }

  PairedInput(const ConvShape& shape, int rows, int planes, int images, int parts);

  /// Cuts what the output rows from `first_row` on need from one image: the planes from `first_plane` on. `channels`:
  /// the first channel of the group, CHW.
  void load(InstructionSet::Kind set, const float* channels, int first_plane, int planes, int first_row, int image);

  /// Words of an image, its first part first; 16 words before it may be read, too.
  const std::uint32_t* words(int image) const { return words_.data() + kTileRows + image * parts_ * part_words_; }
  /// From a part to the next.
  std::int64_t part_words() const { return part_words_; }
  /// Of a tap's word from that of the output at (0, 0), `plane` counted from the first that was loaded.
  int offset(int plane, int kernel_row, int column) const { return tile_.tap_offset(plane, kernel_row, column); }
  int pitch() const { return tile_.pitch(); }

 private:
  const ConvShape* shape_;
  int parts_;
  InputTile tile_;
  std::int64_t part_words_;
  std::vector<std::uint32_t, HugePageAllocator<std::uint32_t>> words_;
};

/// Lanes of a tile's outputs that belong to one row of the output. Their inputs lie side by side.
struct TilePiece {
  int from;        ///< the word of lane 0's first tap, as if the row went on to the left
  int first_lane;  ///< up to the next piece, or the last lane
};

/// The right tiles of a panel for 16 outputs: [step][part][pair of taps][output].
struct PanelTile {
  const std::uint32_t* words;
  std::int64_t part_words;  ///< from a part to the next
  int parts;
  const int* offsets;  ///< of each pair
  int pairs;
  int whole_pairs;  ///< of these; others have no second tap
  int steps;        ///< those without pairs are zeros
  const TilePiece* pieces;
  int piece_count;
  std::uint32_t* to;
};
void fill(InstructionSet::Kind set, const PanelTile& tile);

}  // namespace convladder
