// Pooling, bias and activation of sums with an image in each lane, as the CPU's fused variants apply them. There a
// window's maximum is one of whole vectors, and only the pooled map is transposed.
#pragma once

#include <vector>

#include "variants/convolution/cpu/lane_strips.hpp"
#include "variants/convolution/fused/cpu/pooled_store.hpp"
#include "variants/convolution/fused/fused_shape.hpp"

namespace convladder {

/// The rows of a pooled output as windows over those of the convolution.
inline RowWindows row_windows(const FusedShape& s) { return {s.pooled_height(), s.pool_size, s.pool_stride}; }

/// Replaces rows of outputs by `rows` pooled rows at the same place, with the maximum of each window in each lane; a
/// NaN in a window becomes its maximum. Sums are read before they are overwritten.
template <typename Set>
[[gnu::always_inline]] inline void pool_lanes(const FusedShape& shape, float* sums, int rows) {
  const int width = shape.pooled_width();
  const std::ptrdiff_t pitch = std::ptrdiff_t{shape.convolution.out_width()} * Set::lanes;
  float* to = sums;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < width; ++column, to += Set::lanes) {
      const float* from = sums + row * shape.pool_stride * pitch + column * shape.pool_stride * Set::lanes;
      Vector<Set> largest;
      load_vector(largest, from);
      for (int p = 0; p < shape.pool_size; ++p, from += pitch) {
        for (int q = 0; q < shape.pool_size; ++q) {
          Vector<Set> next;
          load_vector(next, from + q * Set::lanes);
          const Vector<Set> larger = largest > next ? largest : next;
          largest = largest != largest ? largest : larger;
        }
      }
      store_vector(to, largest);
    }
  }
}

/// Pools, activates and stores a map's sums, as the fused variants do; it has the members of StoreStrips.
struct StorePooledLanes {
  const FusedShape& shape;
  const std::vector<float>& bias;  ///< empty without has_bias
  float* output;

  /// `sums` is overwritten: the pooled sums go to its beginning.
  template <typename Set>
  [[gnu::always_inline]] void store(const StripGroup<Set>& group, int map, float* sums) const {
    const int width = shape.pooled_width();
    const int rows = pooled_rows(group.rows);
    if (shape.pools()) pool_lanes<Set>(shape, sums, rows);
    const float added = bias.empty() ? 0.0F : bias[static_cast<std::size_t>(map)];
    activate(shape.activation, sums, std::ptrdiff_t{rows} * width * Set::lanes,
             [added](std::ptrdiff_t) { return added; });
    const int count = rows * width;
    float* runs[Set::lanes];
    int lengths[Set::lanes];
    for (int lane = 0; lane < Set::lanes; ++lane) {
      const Strip& strip = group.strips[lane];
      const std::int64_t of_map = std::int64_t{strip.image} * shape.convolution.out_channels + map;
      runs[lane] = output + (of_map * shape.pooled_height() + strip.first_row / shape.pool_stride) * width;
      lengths[lane] = strip.rows == 0 ? 0 : pooled_rows(strip.rows) * width;
    }
    deinterleave<Set>(sums, count, runs, lengths);
  }

 private:
  int pooled_rows(int rows) const { return (rows - shape.pool_size) / shape.pool_stride + 1; }
};

}  // namespace convladder
