// The register tile of the stages from 07 on (variants/vector_tile.hpp), with output maps as its rows: how maps are cut
// into tiles, and their weights in the order in which a tile reads them.
#pragma once

#include <type_traits>

#include "variants/convolution/conv_shape.hpp"
#include "variants/vector_lanes.hpp"
#include "variants/vector_tile.hpp"

namespace convladder {

/// How the output maps of a group are cut into tiles of nearly equal numbers of maps, `most` at most: 50 maps in tiles
/// of up to 8 are one tile of 8 and six of 7, not six of 8 and one of 2.
class MapTiles {
 public:
  MapTiles(int maps_of_group, int most) {
    const int count = (maps_of_group + most - 1) / most;
    for (int tile = 0; tile <= count; ++tile) {
      first_.push_back(static_cast<int>(std::int64_t{maps_of_group} * tile / count));
    }
  }
  int maps() const { return first_.back(); }
  int count() const { return static_cast<int>(first_.size()) - 1; }
  int first(int tile) const { return first_[static_cast<std::size_t>(tile)]; }
  int size(int tile) const { return first(tile + 1) - first(tile); }

 private:
  std::vector<int> first_;
};

/// Weights in the order in which the inner loop reads them: for each group and tile of maps, tap by tap (c, p, q) the
/// weights of the tile's maps side by side. The offset of a map is the same as in OIHW: tile t of group g begins at
/// (g * maps_per_group + first(t)) * taps.
inline AlignedFloats pack_weights(const ConvShape& s, const MapTiles& tiles, const float* weights) {
  AlignedFloats packed(s.weight_elements());
  const std::int64_t taps = std::int64_t{s.channels_per_group()} * s.kernel * s.kernel;
  float* to = packed.data();
  for (int g = 0; g < s.groups; ++g) {
    for (int tile = 0; tile < tiles.count(); ++tile) {
      const float* const filters = weights + (std::int64_t{g} * tiles.maps() + tiles.first(tile)) * taps;
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        for (int m = 0; m < tiles.size(tile); ++m) *to++ = filters[m * taps + tap];
      }
    }
  }
  return packed;
}

/// Calls body(maps, vectors) with both as constants: each size of tile has its own copy of the body.
template <typename Set, typename Body>
[[gnu::always_inline]] inline void with_tile_size(int maps, int vectors, const Body& body) {
  with_constant<Set::maps>(maps, [&](auto maps_constant) {
    with_constant<Set::vectors>(vectors, [&](auto vectors_constant) { body(maps_constant, vectors_constant); });
  });
}

}  // namespace convladder
