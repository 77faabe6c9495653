// Stage 7: a tile of outputs in registers, maps x pixels.
//
// Against stage 6 a run of outputs belongs to several maps at once: with AVX-512 the sums of eight maps x 48 pixels
// stay in 24 of the 32 registers. A vector of pixels that is loaded serves all eight maps, a weight all three vectors:
// eleven loads for 24 multiply-adds instead of 24. `prepare` packs the weights, tap by tap those of a tile's maps side
// by side, so that they are read in order, and writes every tap's place in the input tile into a table, so that any
// kernel and stride will do without code of its own. The width of the vectors is chosen when the program runs. It loses
// where a group has a map or two: such tiles have few independent sums.

#include <fmt/format.h>

#include "variants/convolution/cpu/flat_convolution.hpp"
#include "variants/convolution/cpu/register_tile.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

/// The outputs of one band of rows of one image; all maps.
struct Band {
  const ConvShape& shape;
  const InputTile& tile;
  const MapTiles& map_tiles;
  const float* weights;                 ///< packed
  const std::vector<int>& tap_offsets;  ///< of the first channel's first tap: zero
  int rows;
  float* output;  ///< the band's first row of the image's first map

  template <typename Set>
  static void run(const Band& band) {
    const int outputs = (band.rows - 1) * band.tile.pitch() + band.shape.out_width();
    for (int first = 0; first < outputs; first += Set::vectors * Set::lanes) {
      const int vectors = std::min(Set::vectors, (outputs - first + Set::lanes - 1) / Set::lanes);
      const int count = std::min(vectors * Set::lanes, outputs - first);
      for (int group = 0; group < band.shape.groups; ++group) {
        for (int tile = 0; tile < band.map_tiles.count(); ++tile) {
          with_tile_size<Set>(band.map_tiles.size(tile), vectors, [&](auto maps, auto vectors_of_tile) {
            band.template convolve<Set, maps, vectors_of_tile>(group, tile, first, count);
          });
        }
      }
    }
  }

 private:
  template <typename Set, int kMaps, int kVectors>
  void convolve(int group, int map_tile, int first, int count) const {
    const int taps = static_cast<int>(tap_offsets.size());
    const std::int64_t first_map = std::int64_t{group} * map_tiles.maps() + map_tiles.first(map_tile);
    const float* const pixels = tile.pixels() + tile.tap_offset(group * shape.channels_per_group(), 0, 0) + first;
    const int* const offsets = tap_offsets.data();
    RegisterTile<Set, kMaps, kVectors> sums;
    sums.clear();
    sums.add(taps, weights + first_map * taps, [&](int tap) { return pixels + offsets[tap]; });
    alignas(64) float values[kMaps][kVectors * Set::lanes];
    sums.store(values[0], kVectors * Set::lanes);
    for (int m = 0; m < kMaps; ++m) {
      store_flat(values[m], first, count, tile.pitch(), rows, shape.out_width(),
                 output + (first_map + m) * shape.out_height() * shape.out_width());
    }
  }
};

class RegisterTiled {
 public:
  RegisterTiled(const ConvShape& s, const float* weights)
      : shape_(s),
        set_(chosen_instruction_set()),
        map_tiles_(s.maps_per_group(), set_.maps),
        weights_(pack_weights(s, map_tiles_, weights)),
        tap_offsets_(InputTile(s, s.stride).tap_offsets(s.channels_per_group())) {}

  void convolve(const float* input, float* output) const {
    for_each_tile(shape_, input, shape_.stride, [&](const InputTile& tile, int image, int first_row, int rows) {
      float* const band_output =
          output + image * shape_.output_elements_per_image() + std::int64_t{first_row} * shape_.out_width();
      run_with<Band>(set_.kind, Band{shape_, tile, map_tiles_, weights_.data(), tap_offsets_, rows, band_output});
    });
  }

  std::string choice() const {
    return fmt::format("{}, {} maps x {} pixels", set_.name, set_.maps, set_.tile_pixels());
  }

 private:
  ConvShape shape_;
  InstructionSet set_;
  MapTiles map_tiles_;
  AlignedFloats weights_;
  std::vector<int> tap_offsets_;
};

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 7,
     .name = "register-tile",
     .title = "Register tile",
     .builds_on = "compile-time",
     .hypothesis = "Eight maps share each vector of pixels, which halves the loads per multiply-add."},
    keep_variant(std::make_unique<PreparingCpuVariant<RegisterTiled>>())};

}  // namespace
}  // namespace convladder
