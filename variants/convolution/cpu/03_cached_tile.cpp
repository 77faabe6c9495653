// Stage 3: work on a copy of the input that stays in the cache.
//
// Against stage 2 the input that a band of output rows needs is first copied, with all its channels, into a buffer that
// each core has for itself, with the padding written out as zeros. All output maps are then computed from that copy:
// the image is fetched from memory once instead of once per map, and the tests for the image's border leave the inner
// loop. It loses if an image is in the cache anyway and has few maps to share the copy; the copy is then only extra
// work.

#include "variants/convolution/cpu/input_tile.hpp"
#include "variants/convolution/cpu_variant.hpp"

// Left to itself the compiler multiplies whole vectors of taps and then adds their lanes one by one, to keep the order
// of the sum: slower than the plain loop, and not what this stage is about.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-vectorize")
#endif

namespace convladder {
namespace {

/// The sum over all taps of one output pixel; `pixel` is its first tap in the tile.
float sum_of_taps(const ConvShape& s, const InputTile& tile, const float* pixel, const float* filter,
                  int first_channel) {
  float sum = 0.0F;
  for (int c = 0; c < s.channels_per_group(); ++c) {
    for (int p = 0; p < s.kernel; ++p) {
      const float* const row = pixel + tile.tap_offset(first_channel + c, p, 0);
      for (int q = 0; q < s.kernel; ++q) sum += row[q] * filter[(c * s.kernel + p) * s.kernel + q];
    }
  }
  return sum;
}

void cached_tile(const ConvShape& s, const float* x, const float* w, float* y) {
  const int out_width = s.out_width();
  const std::int64_t taps = std::int64_t{s.channels_per_group()} * s.kernel * s.kernel;
  for_each_tile(s, x, 1, [&](const InputTile& tile, int image, int first_row, int rows) {
    for (int m = 0; m < s.out_channels; ++m) {
      const int first_channel = m / s.maps_per_group() * s.channels_per_group();
      float* const map =
          y + ((static_cast<std::int64_t>(image) * s.out_channels + m) * s.out_height() + first_row) * out_width;
      for (int oh = 0; oh < rows; ++oh) {
        for (int ow = 0; ow < out_width; ++ow) {
          const float* const pixel = tile.pixels() + oh * s.stride * tile.pitch() + ow * s.stride;
          map[oh * out_width + ow] = sum_of_taps(s, tile, pixel, w + m * taps, first_channel);
        }
      }
    }
  });
}

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 3,
     .name = "cached-tile",
     .title = "Tile in the cache",
     .builds_on = "local-accumulation",
     .hypothesis = "The input is fetched from memory once for all output maps, and no tap tests for the border."},
    cpu_variant(cached_tile)};

}  // namespace
}  // namespace convladder
