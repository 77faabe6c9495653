// Register tile with the bias, the activation and the max pooling that follow it.
//
// Against stage 7 the sums of some rows of a tile's maps are not copied to the output but stay in a buffer that the
// first-level cache holds. There they are pooled, down the columns first; what is left, a quarter for 2/2, gets bias
// and activation and is all that is written. So the convolution's output, in most layers the largest tensor of all,
// is never in memory: neither written, nor read and written by the activation, nor read by the pooling. tanh is
// computed for one element of each window. It loses where windows overlap, since the rows that two buffers share are
// convolved twice.

#include <fmt/format.h>

#include "variants/convolution/cpu/input_tile.hpp"
#include "variants/convolution/cpu/register_tile.hpp"
#include "variants/convolution/fused/cpu/pooled_store.hpp"
#include "variants/convolution/fused/cpu_fused.hpp"

namespace convladder {
namespace {

constexpr int kBufferFloats = 24 * 1024 / sizeof(float);  // half or more of any first-level data cache

/// How a layer is cut: bands of pooled rows share an input tile, strips of a band share the buffer of sums.
class PooledRows {
 public:
  PooledRows(const FusedShape& s, int maps_of_tile) : shape_(s) {
    const InputTile whole(s.convolution, s.convolution.stride);
    pitch_ = whole.pitch();
    band_ = std::clamp((whole.rows() - s.pool_size) / s.pool_stride + 1, 1, s.pooled_height());
    strip_ = 1;
    while (strip_ < band_ && outputs(strip_ + 1) * maps_of_tile <= kBufferFloats) ++strip_;
  }
  int band() const { return band_; }
  int strip() const { return strip_; }
  int bands() const { return (shape_.pooled_height() - 1) / band_ + 1; }
  /// Rows of the convolution's output under `pooled` pooled rows; `outputs` counts their sums, with the columns between
  /// rows.
  int rows(int pooled) const { return (pooled - 1) * shape_.pool_stride + shape_.pool_size; }
  int outputs(int pooled) const { return (rows(pooled) - 1) * pitch_ + shape_.convolution.out_width(); }
  /// Floats from map to map in the buffer: whole tiles of `tile_pixels` are written.
  int buffer_pitch(int tile_pixels) const { return (outputs(strip_) - 1) / tile_pixels * tile_pixels + tile_pixels; }

 private:
  FusedShape shape_;
  int pitch_;
  int band_;
  int strip_;
};

/// A task: the pooled outputs of all maps in one band of one image.
struct Band {
  const FusedShape& shape;
  const PooledRows& rows;
  const PooledStore& stored;
  const InputTile& tile;
  const MapTiles& map_tiles;
  const float* weights;                 ///< packed
  const std::vector<int>& tap_offsets;  ///< of the first channel's first tap: zero
  int pooled_rows;
  float* output;  ///< the band's first row of the image's first map
  float* buffer;  ///< the sums of a strip, [map of the tile][buffer_pitch], and behind them the store's scratch

  template <typename Set>
  static void run(const Band& band) {
    for (int first = 0; first < band.pooled_rows; first += band.rows.strip()) {
      const int count = std::min(band.rows.strip(), band.pooled_rows - first);
      for (int group = 0; group < band.shape.convolution.groups; ++group) {
        for (int tile = 0; tile < band.map_tiles.count(); ++tile) {
          band.convolve<Set>(group, tile, first, count);
          band.pool<Set>(group, tile, first, count);
        }
      }
    }
  }

 private:
  template <typename Set>
  int buffer_pitch() const {
    return rows.buffer_pitch(Set::vectors * Set::lanes);
  }
  std::int64_t first_map(int group, int map_tile) const {
    return std::int64_t{group} * map_tiles.maps() + map_tiles.first(map_tile);
  }

  /// Computes the sums under `count` pooled rows from the band's row `first` on.
  template <typename Set>
  void convolve(int group, int map_tile, int first, int count) const {
    const int outputs = rows.outputs(count);
    const int taps = static_cast<int>(tap_offsets.size());
    const int* const offsets = tap_offsets.data();
    const float* const filters = weights + first_map(group, map_tile) * taps;
    const float* const pixels = tile.pixels() + tile.tap_offset(group * shape.convolution.channels_per_group(), 0, 0) +
                                first * shape.pool_stride * tile.pitch();
    for (int at = 0; at < outputs; at += Set::vectors * Set::lanes) {
      const int vectors = std::min(Set::vectors, (outputs - at + Set::lanes - 1) / Set::lanes);
      with_tile_size<Set>(map_tiles.size(map_tile), vectors, [&](auto maps, auto vectors_of_tile) {
        RegisterTile<Set, maps, vectors_of_tile> sums;
        sums.clear();
        sums.add(taps, filters, [&](int tap) { return pixels + offsets[tap] + at; });
        sums.store(buffer + at, buffer_pitch<Set>());
      });
    }
  }

  template <typename Set>
  void pool(int group, int map_tile, int first, int count) const {
    float* const scratch = buffer + map_tiles.size(map_tile) * buffer_pitch<Set>();
    for (int m = 0; m < map_tiles.size(map_tile); ++m) {
      const std::int64_t map = first_map(group, map_tile) + m;
      float* const to = output + (map * shape.pooled_height() + first) * shape.pooled_width();
      stored.store(map, buffer + m * buffer_pitch<Set>(), tile.pitch(), count, scratch, to);
    }
  }
};

class FusedRegisterTile {
 public:
  FusedRegisterTile(const FusedShape& s, const float* weights, const float* bias)
      : shape_(s),
        set_(chosen_instruction_set()),
        map_tiles_(s.convolution.maps_per_group(), set_.maps),
        rows_(s, std::min(set_.maps, s.convolution.maps_per_group())),
        stored_(s, bias),
        weights_(pack_weights(s.convolution, map_tiles_, weights)),
        tap_offsets_(tile().tap_offsets(s.convolution.channels_per_group())) {}

  void run(const float* input, float* output) const {
    const std::int64_t image_outputs = static_cast<std::int64_t>(shape_.output().elements());
#pragma omp parallel
    {
      InputTile band_input = tile();
      AlignedFloats buffer(std::int64_t{set_.maps} * rows_.buffer_pitch(set_.tile_pixels()) +
                           stored_.scratch(rows_.strip()));
#pragma omp for collapse(2) schedule(static)
      for (int image = 0; image < shape_.convolution.batch; ++image) {
        for (int band = 0; band < rows_.bands(); ++band) {
          const int first = band * rows_.band();
          band_input.load(input + image * shape_.convolution.input_elements_per_image(), first * shape_.pool_stride);
          run_with<Band>(set_.kind, Band{shape_, rows_, stored_, band_input, map_tiles_, weights_.data(), tap_offsets_,
                                         std::min(rows_.band(), shape_.pooled_height() - first),
                                         output + image * image_outputs + std::int64_t{first} * shape_.pooled_width(),
                                         buffer.data()});
        }
      }
    }
  }

  std::string choice() const {
    return fmt::format("{}, {} maps x {} pixels, {} pooled rows at once", set_.name, set_.maps, set_.tile_pixels(),
                       rows_.strip());
  }

 private:
  /// The input tile of one band.
  InputTile tile() const {
    const ConvShape& s = shape_.convolution;
    return {s, s.stride, rows_.rows(rows_.band()), s.in_channels};
  }

  FusedShape shape_;
  InstructionSet set_;
  MapTiles map_tiles_;
  PooledRows rows_;
  PooledStore stored_;
  AlignedFloats weights_;
  std::vector<int> tap_offsets_;
};

const VariantRegistration registration{
    "fused-convolution",
    {.family = "cpu",
     .rung = 2,
     .name = "fused-register-tile",
     .title = "Register tile, pooled in the store",
     .builds_on = "separate-register-tile",
     .hypothesis =
         "The convolution's output stays in the first-level cache and is reduced there to a quarter by pooling."},
    cpu_fused_variant<FusedRegisterTile>()};

}  // namespace
}  // namespace convladder
