// @title Tiles of cache lines
// @hypothesis a cache line of y is fetched once, since all that belongs into it is stored in a row
// @parameter TILE 16 8 32
//
// Against the stage below, the matrix is cut into tiles of 16 x 16. A cache line has 16 floats: a tile is 16 lines of
// x, which stay in the first-level cache until all their columns are done, and 16 lines of y, each filled from its
// beginning to its end. Every line is fetched once, whatever C is: traffic between the caches and memory is what is
// relieved, up to sixteen times.
//
// When it loses: tiles may start in the middle of a line (R or C no multiple of 16, or an address that is none of 64);
// such lines are touched by two tiles. A matrix that fits into the cache had nothing to lose.
#include <algorithm>
#include <cstddef>

#ifndef TILE
#define TILE 16
#endif

namespace {

/// Computes y[c][r] = x[r][c] for `rows` x `columns` elements of x, whose rows are C apart; those of y are R apart.
void transpose_tile(const float* x, float* y, std::size_t R, std::size_t C, int rows, int columns) {
  for (int c = 0; c < columns; ++c) {
    for (int r = 0; r < rows; ++r) y[c * R + r] = x[r * C + c];
  }
}

}  // namespace

extern "C" void solve(const float* x, float* y, int R, int C) {
  const std::size_t x_pitch = C;
  const std::size_t y_pitch = R;
  for (int r = 0; r < R; r += TILE) {
    for (int c = 0; c < C; c += TILE) {
      transpose_tile(x + r * x_pitch + c, y + c * y_pitch + r, y_pitch, x_pitch, std::min(TILE, R - r),
                     std::min(TILE, C - c));
    }
  }
}
