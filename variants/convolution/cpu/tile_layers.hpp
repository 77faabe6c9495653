// Which layers AMX tiles suit.
#pragma once

#include "devices/cpu/tile_unit.hpp"
#include "variants/convolution/conv_shape.hpp"

namespace convladder {

/// Whether six products on the processor's tiles are faster than fp32 in vectors: for layers of many maps, which share
/// the copies of the input, and of many taps, which share the moves of the sums. With any number of images.
inline bool tiles_suit(const ConvShape& s) {
  constexpr int kManyMaps = 64;
  constexpr int kManyTaps = 512;
  return tile_unit() == TileUnit::processor && s.maps_per_group() >= kManyMaps &&
         s.channels_per_group() * s.kernel * s.kernel >= kManyTaps;
}

}  // namespace convladder
