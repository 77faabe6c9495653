// The input copied once for each column of the filter, and a register tile that runs over all outputs of a band of rows
// as over one line. Stages 09 and up for layers of few channels share it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "variants/configuration.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/cpu/register_tile.hpp"
#include "variants/convolution/cpu/shifted_copy.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// How the outputs of a register tile are stored.
enum class TileStores {
  plain,
  prefetched,  ///< their lines are asked for while the sums are added up
  past_caches  ///< by streaming stores
};

/// What is done of a band.
enum class BandPart {
  all,
  copies,  ///< nothing but the copies
  sums     ///< from copies that are there already
};

/// Without streaming: whether lines are asked for goes by whether they have left the second-level cache since the call
/// before. Where they have not, asking costs 2 %.
TileStores cached_stores(const ConvShape& shape, int threads);
/// ", output lines prefetched", as the choice of a stage says it.
const char* stores_text(TileStores stores);

/// Outputs of one image: some rows of the maps of some tiles, and where they go.
struct RowsOfMaps {
  int first_row;
  int rows;
  int first_tile;
  int end_tile;
  float* output;             ///< of the first row of the first map
  std::ptrdiff_t map_pitch;  ///< floats from a map to the next; those of rows lie one behind the other
};

/// How a shape is cut.
struct ShiftedRowsDivision {
  InstructionSet set;
  int maps;     ///< of a register tile, at most
  int vectors;  ///< of outputs of a register tile, at most
  int rows;     ///< of outputs in a band
  /// Of an output row, from its first on: whole tiles. Their inputs are read where they lie, and only those of the
  /// other columns are copied.
  int columns_in_place = 0;

  /// What is wanted, and of the rest what the model takes: the widest tile that the registers hold, and bands whose
  /// copies stay in the second-level cache. `threads` will share the bands: an image has more of them where the batch
  /// alone leaves some idle.
  ShiftedRowsDivision(const ConvShape& shape, int threads, const Configuration& wanted,
                      const InstructionSet& set = chosen_instruction_set());

  /// The largest values: of maps and vectors that there is code for with this instruction set, of rows that there are.
  static Configuration largest(const ConvShape& shape);
  Configuration configuration() const;
  /// The same, with the inputs of all columns copied.
  ShiftedRowsDivision all_copied() const;

 private:
  int possible_columns_in_place(const ConvShape& shape, int of_vectors) const;
};

/// One shape cut into bands of output rows, all maps, whose copied inputs stay in the second-level cache. The same for
/// all threads.
class ShiftedRows {
 public:
  /// `weights` OIHW.
  ShiftedRows(const ConvShape& shape, const float* weights, const ShiftedRowsDivision& division);
  /// With weights as the code of its tiles wants them: one of these two.
  ShiftedRows(const ConvShape& shape, AlignedFloats weights, const ShiftedRowsDivision& division);
  /// As `pack_weights` for tiles of so many maps, the taps of a filter column by column; `weights` OIHW.
  static AlignedFloats packed_weights(const ConvShape& shape, const float* weights, int maps);
  /// OIWH: map by map, the taps of a filter column by column.
  static AlignedFloats unpacked_weights(const ConvShape& shape, const float* weights);

  /// Bands of an image.
  int bands() const { return (shape_.out_height() + division_.rows - 1) / division_.rows; }
  /// Floats that a thread needs for the copies, and for what is computed from them on its way to the output.
  std::int64_t copy_floats() const;
  bool in_place() const { return division_.columns_in_place > 0; }
  int copied_columns() const { return shape_.out_width() - division_.columns_in_place; }

  /// Computes one band of one image: `input` CHW and `output` MHW, both from the image's first element on.
  /// Past the caches only where `whole_lines`, and if the output begins at a line.
  void convolve(float* copies, const float* input, float* output, int band, TileStores stores) const;

  /// Tiles of maps that are computed together, and their maps: those from first_map(t) to first_map(t + 1).
  int map_tiles() const { return static_cast<int>(tiles_of_maps_.size()); }
  int first_map(int tile) const;
  /// Vectors that are computed for so many rows of a tile.
  int vectors_of(int rows) const;
  /// With one band, in two steps: the copies of an image, and from them any of its rows and maps.
  void copy(float* copies, const float* input) const;
  void convolve(float* copies, const float* input, const RowsOfMaps& which) const;

  /// The same with other code for the register tiles (shifted_rows_band.hpp), or in parts.
  template <template <int, int, TileStores> class Tile>
  void convolve_with(float* copies, const float* input, float* output, int band, TileStores stores,
                     BandPart part = BandPart::all) const;

  /// Whether each vector of outputs is a part of one cache line if the first is.
  bool whole_lines() const;

  InstructionSet::Kind instruction_set() const { return division_.set.kind; }
  std::string choice() const;

 private:
  template <template <int, int, TileStores> class Tile>
  friend struct ShiftedRowsBand;

  /// Maps that are computed together, and where they begin: in floats, but for the maps.
  struct TileOfMaps {
    int maps;
    std::int64_t weights;
    std::int64_t input;
    std::int64_t copies;
    int first_map;
  };

  /// The last one of all tiles is one of the largest.
  int most_maps() const { return tiles_of_maps_.back().maps; }
  std::int64_t floats_of_copies() const;

  ConvShape shape_;
  ShiftedRowsDivision division_;
  std::int64_t map_pixels_;
  AlignedFloats weights_;  ///< packed
  int plane_;              ///< floats from one phase, or column, to the next in the copies
  ShiftedCopy copy_;
  std::vector<TileOfMaps> tiles_of_maps_;  ///< of all groups
  std::vector<int> input_offsets_;         ///< of the taps of a group's channels in the input
  std::vector<int> tap_offsets_;           ///< likewise in the copies
};

/// All images of a batch, over all cores.
class ShiftedRowsConvolution {
 public:
  /// `weights` OIHW; what is not wanted the model chooses.
  ShiftedRowsConvolution(const ConvShape& shape, const float* weights, const Configuration& wanted = {});

  /// As a tunable variant's (cpu_variant.hpp): "maps" and "vectors" of a register tile, "rows" of a band.
  static Configurations configurations(const ConvShape& shape, const Configuration& wanted, int most);
  static std::string impossible(const ConvShape& shape, const Configuration& wanted);

  /// `input` and `output` NCHW; `stores` as in `ShiftedRows::convolve`.
  void convolve(const float* input, float* output, TileStores stores);

  const ShiftedRows& rows() const { return rows_; }

 private:
  ConvShape shape_;
  ShiftedRows rows_;
  std::vector<AlignedFloats> copies_;  ///< of each thread
};

}  // namespace convladder
