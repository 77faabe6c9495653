// Converts planes of channels (NCHW) to pixels of channels (NHWC) and back, by transposing a matrix for each image.
#pragma once

#include <algorithm>
#include <cstdint>

#include "variants/convolution/cpu/lane_transpose.hpp"
#include "variants/vector_lanes.hpp"

namespace convladder {

/// A part of a matrix that is transposed: to[column * rows + row] = from[row * columns + column], for all rows and the
/// columns from `first` to before `end`, or, where `by_rows`, for all columns and these rows.
struct MatrixPart {
  const float* from;
  float* to;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t first;
  std::int64_t end;
  bool by_rows;

  /// The transposition for `run_with`. Matrices narrower than the registers use narrower ones.
  template <typename Set>
  static void run(const MatrixPart& part) {
    const std::int64_t narrower = std::min(part.by_rows ? part.columns : part.rows, part.end - part.first);
    if constexpr (Set::lanes > 8) {
      if (narrower >= 8 && narrower < Set::lanes) return part.squares<Avx2>();
    }
    if constexpr (Set::lanes > 4) {
      if (narrower >= 4 && narrower < Set::lanes) return part.squares<BaselineLanes>();
    }
    if (narrower >= Set::lanes) return part.squares<Set>();
    part.one_by_one();
  }

 private:
  /// Transposes square by square. The last square of a row or a column of squares overlaps the one before it.
  template <typename Set>
  [[gnu::always_inline]] inline void squares() const {
    const std::int64_t first_row = by_rows ? first : 0;
    const std::int64_t end_row = by_rows ? end : rows;
    const std::int64_t first_column = by_rows ? 0 : first;
    const std::int64_t end_column = by_rows ? columns : end;
    // Runs along the rows of `to`, so that the lines that are written stay in the cache.
    for (std::int64_t c = first_column; c < end_column; c += Set::lanes) {
      const std::int64_t column = std::min(c, end_column - Set::lanes);
      for (std::int64_t r = first_row; r < end_row; r += Set::lanes) {
        const std::int64_t row = std::min(r, end_row - Set::lanes);
        Vector<Set> lines[Set::lanes];
#pragma GCC unroll 16
        for (int i = 0; i < Set::lanes; ++i) load_vector(lines[i], from + (row + i) * columns + column);
        transpose<Set>(lines);
#pragma GCC unroll 16
        for (int i = 0; i < Set::lanes; ++i) store_vector(to + (column + i) * rows + row, lines[i]);
      }
    }
  }

  void one_by_one() const {
    if (by_rows) {
      for (std::int64_t column = 0; column < columns; ++column) {
        for (std::int64_t row = first; row < end; ++row) to[column * rows + row] = from[row * columns + column];
      }
      return;
    }
    for (std::int64_t column = first; column < end; ++column) {
      for (std::int64_t row = 0; row < rows; ++row) to[column * rows + row] = from[row * columns + column];
    }
  }
};

}  // namespace convladder
