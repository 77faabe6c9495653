#include "variants/cpu/shifted_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

namespace convladder {
namespace {

constexpr int kCopyBytes = 448 * 1024;  // a second-level cache has 1 MiB or more

/// Vectors of a register tile of `maps` maps: with few maps more of them, so that there are sums enough to hide an
/// addition's latency, and as many multiply-adds for each load. Registers hold the tile's pixels too, a weight and a
/// product.
template <typename Set>
constexpr int tile_vectors(int maps) {
  return std::clamp((Set::registers - 2) / (maps + 1), 1, 2 * Set::vectors);
}

/// Calls body(std::integral_constant<int, i>) for i from kFirst to kLast.
template <int kFirst, int kLast, typename Body>
[[gnu::always_inline]] inline void for_each_constant(const Body& body) {
  if constexpr (kFirst <= kLast) {
    body(std::integral_constant<int, kFirst>{});
    for_each_constant<kFirst + 1, kLast>(body);
  }
}

/// Rows of one phase that `rows` output rows need.
int phase_rows(const ConvShape& s, int rows) { return (rows * s.stride + s.kernel - 1) / s.stride; }

std::int64_t copy_floats_of(const ConvShape& s, int rows) {
  return std::int64_t{s.in_channels} * s.kernel * s.stride * phase_rows(s, rows) * s.out_width();
}

/// OIHW -> OIWH: the taps of a column follow each other, as in memory their inputs do.
std::vector<float> column_by_column(const ConvShape& s, const float* weights) {
  std::vector<float> turned;
  turned.reserve(static_cast<std::size_t>(s.weight_elements()));
  const int filter = s.kernel * s.kernel;
  for (std::int64_t first = 0; first < s.weight_elements(); first += filter) {
    for (int i = 0; i < filter; ++i) turned.push_back(weights[first + i % s.kernel * s.kernel + i / s.kernel]);
  }
  return turned;
}

}  // namespace

/// The inputs of an output row under one column of the filter.
class Columns {
 public:
  /// `left` is the image's column under the first output.
  Columns(const ConvShape& s, int left)
      : stride_(s.stride),
        count_(s.out_width()),
        begin_(left >= 0 ? 0 : std::min(count_, (-left + stride_ - 1) / stride_)),
        end_(std::clamp((s.width - left + stride_ - 1) / stride_, begin_, count_)),
        left_(left) {}

  /// to[i] = row[left + i * stride], zero outside of the row.
  template <typename Set>
  [[gnu::always_inline]] void copy(const float* row, float* to) const {
    if (begin_ > 0) std::fill_n(to, begin_, 0.0F);
    if (stride_ == 1) {
      copy_neighbours<Set>(row + left_ + begin_, end_ - begin_, to + begin_);
    } else {
      for (int i = begin_; i < end_; ++i) to[i] = row[left_ + i * stride_];
    }
    if (end_ < count_) std::fill(to + end_, to + count_, 0.0F);
  }

 private:
  template <typename Set>
  [[gnu::always_inline]] static void copy_neighbours(const float* from, int count, float* to) {
    if (count < Set::lanes) {
      for (int i = 0; i < count; ++i) to[i] = from[i];
      return;
    }
    Vector<Set> last;  // overlaps the one before it
    load_vector(last, from + count - Set::lanes);
    for (int i = 0; i + Set::lanes < count; i += Set::lanes) {
      Vector<Set> vector;
      load_vector(vector, from + i);
      store_vector(to + i, vector);
    }
    store_vector(to + count - Set::lanes, last);
  }

  int stride_;
  int count_;
  int begin_;
  int end_;
  int left_;
};

/// One band, as the code for an instruction set sees it.
struct ShiftedRowsBand {
  static constexpr int kSlack = 256;  // a tile is loaded whole, past the last output

  const ShiftedRows& plan;
  float* copies;
  const float* input;
  float* output;
  int first_row;
  int rows;
  ShiftedRows::Stores stores;

  template <typename Set>
  static void run(const ShiftedRowsBand& band) {
    band.copy<Set>();
    const int outputs = band.rows * band.plan.shape_.out_width();
    const int vectors = (outputs + Set::lanes - 1) / Set::lanes;
    const MapTiles& map_tiles = band.plan.map_tiles_;
    // Tiles of maps have sizes that differ by one at most, and with it nearly the same number of vectors.
    const int most_vectors = tile_vectors<Set>(map_tiles.size(map_tiles.count() - 1));
    const int tiles = (vectors + most_vectors - 1) / most_vectors;
    for (int tile = 0; tile < tiles; ++tile) {
      const int first = static_cast<int>(std::int64_t{vectors} * tile / tiles);
      const int end = static_cast<int>(std::int64_t{vectors} * (tile + 1) / tiles);
      for (int group = 0; group < band.plan.shape_.groups; ++group) {
        for (int map_tile = 0; map_tile < map_tiles.count(); ++map_tile) {
          band.multiply<Set>(group, map_tile, first, end - first, outputs);
        }
      }
    }
  }

 private:
  /// Calls the code for a tile of so many maps and vectors, or of one vector after the other where there is none.
  template <typename Set>
  [[gnu::always_inline]] void multiply(int group, int map_tile, int first_vector, int vectors, int outputs) const {
    with_constant<Set::maps>(plan.map_tiles_.size(map_tile), [&](auto maps) {
      const auto tile = [&](auto count, int first) {
        multiply_tile<Set, maps, count>(group, map_tile, first, std::min(outputs - first, count * Set::lanes));
      };
      // The widest tile of these maps, or of one map more in the layer's other tiles, and one vector less of that.
      constexpr int most = tile_vectors<Set>(maps);
      constexpr int least = std::max(2, tile_vectors<Set>(maps + 1) - 1);
      bool done = false;
      for_each_constant<least, most>([&](auto count) {
        if (vectors == count) {
          tile(count, first_vector * Set::lanes);
          done = true;
        }
      });
      if (done) return;
      for (int v = first_vector; v < first_vector + vectors; ++v) {
        tile(std::integral_constant<int, 1>{}, v * Set::lanes);
      }
    });
  }

  template <typename Set, int kMaps, int kVectors>
  void multiply_tile(int group, int map_tile, int first, int count) const {
    const ConvShape& s = plan.shape_;
    const int taps = static_cast<int>(plan.tap_offsets_.size());
    const int* const offsets = plan.tap_offsets_.data();
    const std::int64_t first_map = std::int64_t{group} * plan.map_tiles_.maps() + plan.map_tiles_.first(map_tile);
    const float* const pixels =
        copies + std::int64_t{group} * s.channels_per_group() * s.kernel * s.stride * plan.plane_ + first;
    const std::int64_t map_pixels = std::int64_t{s.out_height()} * s.out_width();
    RegisterTile<Set, kMaps, kVectors> sums;
    sums.clear();
    sums.add(taps, plan.weights_.data() + first_map * taps, [&](int tap) { return pixels + offsets[tap]; });
    float* const to = output + first_map * map_pixels + std::int64_t{first_row} * s.out_width() + first;
    if (stores.past_caches && count == kVectors * Set::lanes) {
      sums.stream(to, map_pixels);
    } else {
      sums.store(to, map_pixels, count);
    }
    if (stores.behind != nullptr)
      stores.behind->advance<Set>(kMaps * kVectors * Set::lanes / OutputStream::kLineFloats);
  }

  /// Writes the band's input under each column of the filter, rows without a gap between them.
  template <typename Set>
  void copy() const {
    const ConvShape& s = plan.shape_;
    const int top = first_row * s.stride - s.padding;
    const int copied_rows = (rows - 1) * s.stride + s.kernel;
    for (int c = 0; c < s.in_channels; ++c) {
      const float* const channel = input + std::int64_t{c} * s.height * s.width;
      for (int q = 0; q < s.kernel; ++q) {
        const Columns columns(s, q - s.padding);
        for (int phase = 0; phase < s.stride; ++phase) {
          float* to = copies + ((std::int64_t{c} * s.kernel + q) * s.stride + phase) * plan.plane_;
          for (int row = top + phase; row < top + copied_rows; row += s.stride, to += s.out_width()) {
            if (row < 0 || row >= s.height) {
              std::fill_n(to, s.out_width(), 0.0F);
            } else {
              columns.copy<Set>(channel + std::int64_t{row} * s.width, to);
            }
          }
        }
      }
    }
  }
};

ShiftedRows::ShiftedRows(const ConvShape& shape, const float* weights, int threads)
    : shape_(shape),
      set_(chosen_instruction_set()),
      map_tiles_(shape.maps_per_group(), set_.maps),
      weights_(pack_weights(shape, map_tiles_, column_by_column(shape, weights).data())) {
  int fitting = shape.out_height();
  while (fitting > 1 && copy_floats_of(shape, fitting) * static_cast<int>(sizeof(float)) > kCopyBytes) --fitting;
  const int bands = std::max((shape.out_height() + fitting - 1) / fitting,
                             std::min(shape.out_height(), (threads + shape.batch - 1) / shape.batch));
  band_rows_ = (shape.out_height() + bands - 1) / bands;
  plane_ = phase_rows(shape, band_rows_) * shape.out_width();
  for (int c = 0; c < shape.channels_per_group(); ++c) {
    for (int q = 0; q < shape.kernel; ++q) {
      for (int p = 0; p < shape.kernel; ++p) {
        tap_offsets_.push_back(((c * shape.kernel + q) * shape.stride + p % shape.stride) * plane_ +
                               p / shape.stride * shape.out_width());
      }
    }
  }
}

std::int64_t ShiftedRows::copy_floats() const { return copy_floats_of(shape_, band_rows_) + ShiftedRowsBand::kSlack; }

void ShiftedRows::convolve(float* copies, const float* input, float* output, int band, const Stores& stores) const {
  const int first_row = band * band_rows_;
  const int rows = std::min(band_rows_, shape_.out_height() - first_row);
  run_with<ShiftedRowsBand>(set_.kind, ShiftedRowsBand{*this, copies, input, output, first_row, rows, stores});
}

bool ShiftedRows::whole_lines() const {
  return bands() == 1 && shape_.out_height() * shape_.out_width() % OutputStream::kLineFloats == 0;
}

std::string ShiftedRows::choice() const {
  return fmt::format("{}, {} maps at once, bands of {} rows", set_.name, map_tiles_.size(map_tiles_.count() - 1),
                     band_rows_);
}

}  // namespace convladder
