// A tile without its halo: taps beyond its last column read what lies there, the start of the tile's next row.

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

constexpr int kTile = 4;

void reads_beyond_tile(const ConvShape& s, const float* x, const float* w, float* y) {
  plain_convolution(s, x, w, y);
  for (int b = 0; b < s.batch; ++b) {
    // The first map again, from tiles.
    float* const map = y + b * s.output_elements_per_image();
    for (int oh = 0; oh < s.out_height(); ++oh) {
      for (int ow = kTile - 1; ow < s.out_width(); ow += kTile) {
        const int left = (ow - kTile + 1) * s.stride - s.padding;
        map[oh * s.out_width() + ow] =
            plain_pixel(s, x + b * s.input_elements_per_image(), w, 0, (oh + 1) * s.stride - s.padding, left);
      }
    }
  }
}

const VariantRegistration reads_beyond_tile_registration{"convolution",
                                                         {.family = "cpu",
                                                          .rung = 105,
                                                          .name = "seeded-tile",
                                                          .title = "Seeded: reads beyond the tile",
                                                          .builds_on = "",
                                                          .hypothesis = "A missing halo is found."},
                                                         cpu_variant(reads_beyond_tile)};

}  // namespace
}  // namespace convladder
