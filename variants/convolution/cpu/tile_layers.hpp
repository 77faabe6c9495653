// The layers that AMX tiles suit.
#pragma once

#include "devices/cpu/tile_unit.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// Whether six products on the processor's tiles are faster than fp32 in vectors: for layers of many maps, which share
/// the copies of the input, and of many taps, which share the loads and stores of the sums, whatever the number of
/// images. False where narrower vectors were asked for: that request stands for a processor without tiles too.
inline bool tiles_suit(const ConvShape& s) {
  constexpr int kManyMaps = 64;
  constexpr int kManyTaps = 512;
  return tile_unit() == TileUnit::processor && chosen_instruction_set().kind == InstructionSet::Kind::avx512 &&
         s.maps_per_group() >= kManyMaps && s.channels_per_group() * s.kernel * s.kernel >= kManyTaps;
}

}  // namespace convladder
