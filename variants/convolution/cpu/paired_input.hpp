// The input of a convolution as bf16 parts, paired for tile instructions: a word holds the numbers of two taps.
//
// A tile's row holds the inputs of 16 outputs at two taps, side by side. Cut and paired once, they are copied for each
// tap with plain loads and stores. Numbers at the same place of two channels make a pair; the last of an odd number of
// channels pairs each number with its right neighbour.
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
  int plane;       ///< plane of the input's words
  int kernel_row;  ///< row of both taps
  int column;      ///< column of the first tap
  int first;       ///< number of the first tap in a filter, in the order of the weights
  int second;      ///< number of the second tap; -1: there is none
};

/// The pairs of all taps; taps without a partner come last.
std::vector<TapPair> tap_pairs(const ConvShape& shape);

/// One thread's words of two numbers for rows of outputs of a few images, with all phases of a few planes.
class PairedInput {
 public:
  /// Planes of a group's input.
  static int planes_of_group(const ConvShape& shape) { return (shape.channels_per_group() + 1) / 2; }

  PairedInput(const ConvShape& shape, int rows, int planes, int images, int parts);

  /// Cuts and pairs the input that the output rows from `first_row` on need from one image, for the planes from
  /// `first_plane` on. `channels` begins at the first channel of the group, CHW.
  void load(InstructionSet::Kind set, const float* channels, int first_plane, int planes, int first_row, int image);

  /// The words of an image, its first part first; the 16 words before them may be read, too.
  const std::uint32_t* words(int image) const { return words_.data() + kTileRows + image * parts_ * part_words_; }
  /// Words from one part to the next.
  std::int64_t part_words() const { return part_words_; }
  /// Words from that of the output at (0, 0) to a tap's, with `plane` counted from the first one that was loaded.
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
  int from;        ///< the word of lane 0's first tap, as if the row continued to the left
  int first_lane;  ///< the piece ends where the next one begins, or with the last lane
};

/// The right tiles of a panel for 16 outputs: [step][part][pair of taps][output].
struct PanelTile {
  const std::uint32_t* words;
  std::int64_t part_words;  ///< words from one part to the next
  int parts;
  const int* offsets;  ///< offset of each pair
  int pairs;
  int whole_pairs;  ///< number of pairs with two taps; the others have no second one
  int steps;        ///< steps beyond the last pair are zeros
  const TilePiece* pieces;
  int piece_count;
  std::uint32_t* to;
};
void fill(InstructionSet::Kind set, const PanelTile& tile);

}  // namespace convladder
