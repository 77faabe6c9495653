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
  prefetched,  ///< their lines are prefetched while the sums are added up
  past_caches  ///< by streaming stores, which bypass the caches
};

/// The part of a band's work that is done.
enum class BandPart {
  all,
  copies,  ///< nothing but the copies
  sums     ///< from copies that exist already
};

/// The stores to use without streaming: lines are prefetched if they have left the second-level cache since the
/// previous call. Where they have not, prefetching costs 2 %.
TileStores cached_stores(const ConvShape& shape, int threads);
/// ", output lines prefetched": the text for the choice of a stage.
const char* stores_text(TileStores stores);

/// Outputs of one image: some rows of the maps of some tiles, and where they go.
struct RowsOfMaps {
  int first_row;
  int rows;
  int first_tile;
  int end_tile;
  float* output;             ///< first row of the first map
  std::ptrdiff_t map_pitch;  ///< floats from one map to the next; a map's rows lie one behind the other
};

/// How a shape is cut into bands and register tiles.
struct ShiftedRowsDivision {
  InstructionSet set;
  int maps;     ///< maps of a register tile, at most
  int vectors;  ///< vectors of outputs of a register tile, at most
  int rows;     ///< output rows of a band
  /// The first columns of an output row, in whole tiles, whose inputs are read where they lie; only the inputs of the
  /// other columns are copied.
  int columns_in_place = 0;

  /// Takes the wanted values, and the model's choice for the others: the widest tile that fits the registers, and bands
  /// whose copies stay in the second-level cache. `threads` will share the bands: an image has more bands where the
  /// batch alone leaves some threads idle.
  ShiftedRowsDivision(const ConvShape& shape, int threads, const Configuration& wanted,
                      const InstructionSet& set = chosen_instruction_set());

  /// The largest values: of maps and vectors for which this instruction set has code, and of rows that exist.
  static Configuration largest(const ConvShape& shape);
  Configuration configuration() const;
  /// A copy of this division in which the inputs of all columns are copied.
  ShiftedRowsDivision all_copied() const;

 private:
  int possible_columns_in_place(const ConvShape& shape, int of_vectors) const;
};

/// One shape cut into bands of output rows of all maps, whose copied inputs stay in the second-level cache. All threads
/// share it.
class ShiftedRows {
 public:
  /// `weights` are OIHW.
  ShiftedRows(const ConvShape& shape, const float* weights, const ShiftedRowsDivision& division);
  /// `weights` are in the order of the tiles' code: `packed_weights` or `unpacked_weights`.
  ShiftedRows(const ConvShape& shape, AlignedFloats weights, const ShiftedRowsDivision& division);
  /// Weights as `pack_weights` makes them for tiles of `maps` maps, with the taps of a filter column by column;
  /// `weights` are OIHW.
  static AlignedFloats packed_weights(const ConvShape& shape, const float* weights, int maps);
  /// Weights as OIWH: map by map, with the taps of a filter column by column.
  static AlignedFloats unpacked_weights(const ConvShape& shape, const float* weights);

  /// Bands of one image.
  int bands() const { return (shape_.out_height() + division_.rows - 1) / division_.rows; }
  /// Floats that a thread needs for the copies and for the outputs computed from them on their way to memory.
  std::int64_t copy_floats() const;
  bool in_place() const { return division_.columns_in_place > 0; }
  int copied_columns() const { return shape_.out_width() - division_.columns_in_place; }

  /// Computes one band of one image: `input` is CHW and `output` MHW, both from the image's first element on. Stores
  /// may bypass the caches only where `whole_lines` holds and the output begins at a cache line.
  void convolve(float* copies, const float* input, float* output, int band, TileStores stores) const;

  /// Tiles of maps that are computed together. The maps of tile t are those from first_map(t) to before first_map(t +
  /// 1).
  int map_tiles() const { return static_cast<int>(tiles_of_maps_.size()); }
  int first_map(int tile) const;
  /// Vectors that are computed for `rows` rows of a tile.
  int vectors_of(int rows) const;
  /// For a division with one band: copies an image, from which any of its rows and maps can then be computed.
  void copy(float* copies, const float* input) const;
  void convolve(float* copies, const float* input, const RowsOfMaps& which) const;

  /// Computes a band as `convolve` does, with other code for the register tiles (shifted_rows_band.hpp), or only a part
  /// of it.
  template <template <int, int, TileStores> class Tile>
  void convolve_with(float* copies, const float* input, float* output, int band, TileStores stores,
                     BandPart part = BandPart::all) const;

  /// Whether each vector of outputs lies within one cache line if the first one does.
  bool whole_lines() const;

  InstructionSet::Kind instruction_set() const { return division_.set.kind; }
  std::string choice() const;

 private:
  template <template <int, int, TileStores> class Tile>
  friend struct ShiftedRowsBand;

  /// Maps that are computed together, and where they begin. All places are in floats, except for the maps.
  struct TileOfMaps {
    int maps;
    std::int64_t weights;
    std::int64_t input;
    std::int64_t copies;
    int first_map;
  };

  /// Maps of the largest tile: the last tile is one of the largest.
  int most_maps() const { return tiles_of_maps_.back().maps; }
  std::int64_t floats_of_copies() const;

  ConvShape shape_;
  ShiftedRowsDivision division_;
  std::int64_t map_pixels_;
  AlignedFloats weights_;  ///< packed
  int plane_;              ///< floats from one phase, or column, to the next in the copies
  ShiftedCopy copy_;
  std::vector<TileOfMaps> tiles_of_maps_;  ///< tiles of all groups
  std::vector<int> input_offsets_;         ///< offsets of the taps of a group's channels in the input
  std::vector<int> tap_offsets_;           ///< offsets of the taps of a group's channels in the copies
};

/// Convolves all images of a batch, using all cores.
class ShiftedRowsConvolution {
 public:
  /// `weights` are OIHW; the model chooses the values that are not wanted.
  ShiftedRowsConvolution(const ConvShape& shape, const float* weights, const Configuration& wanted = {});

  /// The configurations of a tunable variant (cpu_variant.hpp): "maps" and "vectors" of a register tile, "rows" of a
  /// band.
  static Configurations configurations(const ConvShape& shape, const Configuration& wanted, int most);
  static std::string impossible(const ConvShape& shape, const Configuration& wanted);

  /// `input` and `output` are NCHW; `stores` as in `ShiftedRows::convolve`.
  void convolve(const float* input, float* output, TileStores stores);

  const ShiftedRows& rows() const { return rows_; }

 private:
  ConvShape shape_;
  ShiftedRows rows_;
  std::vector<AlignedFloats> copies_;  ///< the copies of each thread
};

/// Whether the copies of a whole image fit into the second-level cache, as those of few channels do: in bands of a few
/// rows a tile of maps has too little work.
inline bool shifted_copies_fit(const ConvShape& shape) {
  return ShiftedRowsDivision(shape.with_batch(1), 1, {}).rows == shape.out_height();
}

/// Whether a batch has enough images for the lanes: strips of few rows, which a smaller one is cut into, read much
/// twice.
inline bool has_images_for_lanes(const ConvShape& s) { return 2 * s.batch >= chosen_instruction_set().lanes; }

}  // namespace convladder
