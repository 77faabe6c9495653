// The convolution over one flat index of output pixels: the loop that stages 04 and up share and fill differently.
#pragma once

#include <algorithm>

#include "variants/convolution/cpu/input_tile.hpp"

namespace convladder {

/// One run of neighbouring outputs of one map, as an accumulation over taps sees it.
struct FlatRun {
  const ConvShape& shape;
  const InputTile& tile;
  int first_channel;    ///< first channel of the map's group
  const float* filter;  ///< the map's weights, [channel of the group][kernel][kernel]
  int first;            ///< flat index of the run's first output in the tile
  int count;            ///< outputs in the run

  /// The inputs of tap (p, q) of channel c of the group, one for each output of the run.
  const float* pixels(int c, int p, int q) const {
    return tile.pixels() + tile.tap_offset(first_channel + c, p, q) + first;
  }
};

/// Copies the flat outputs [first, first + count) of a tile to their rows, leaving out the columns between the rows'
/// ends and the pitch, which belong to no output. `output` points at the tile's first row of one map.
inline void store_flat(const float* flat, int first, int count, int pitch, int rows, int out_width, float* output) {
  for (int row = first / pitch; row < rows && row * pitch < first + count; ++row) {
    const int begin = std::max(first, row * pitch);
    const int end = std::min(first + count, row * pitch + out_width);
    if (begin < end) {
      std::copy(flat + (begin - first), flat + (end - first), output + row * out_width + (begin - row * pitch));
    }
  }
}

/// Calls accumulate(run, sums) for every run of at most `kRun` outputs and stores the sums it leaves.
template <int kRun, typename Accumulate>
void flat_convolution(const ConvShape& s, const float* input, const float* weights, float* output,
                      const Accumulate& accumulate) {
  const int out_width = s.out_width();
  const std::int64_t taps = std::int64_t{s.channels_per_group()} * s.kernel * s.kernel;
  for_each_tile(s, input, s.stride, [&](const InputTile& tile, int image, int first_row, int rows) {
    const int outputs = (rows - 1) * tile.pitch() + out_width;
    for (int m = 0; m < s.out_channels; ++m) {
      float* const map =
          output + ((static_cast<std::int64_t>(image) * s.out_channels + m) * s.out_height() + first_row) * out_width;
      for (int first = 0; first < outputs; first += kRun) {
        const int count = std::min(kRun, outputs - first);
        alignas(64) float sums[kRun];
        accumulate(FlatRun{s, tile, m / s.maps_per_group() * s.channels_per_group(), weights + m * taps, first, count},
                   sums);
        store_flat(sums, first, count, tile.pitch(), rows, out_width, map);
      }
    }
  });
}

/// Adds weight * pixels to the sums: one tap of `count` neighbouring outputs.
inline void add_tap(float* __restrict sums, const float* __restrict pixels, float weight, int count) {
  for (int i = 0; i < count; ++i) sums[i] += weight * pixels[i];
}

}  // namespace convladder
