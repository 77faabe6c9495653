// @title Squares in registers
// @hypothesis a line of x is visited once, so y can be written row by row: 16 rows, each from beginning to end
//
// Against the stage below, a tile is turned around in squares of 4 x 4: four vectors are loaded, shuffled in registers,
// and stored into a copy of the tile that stays in the first-level cache; from there, y gets its lines one after the
// other, each in one go. That is 64 loads and 64 stores into the copy instead of 256 of each, and x is read 16 bytes at
// a time.
//
// No line of x is asked for again, so the next tile can be the one below and not the one to the right: 16 rows of y
// grow at their ends, line after line, instead of one line in each of C rows. Jumping from row to row is dearer for
// stores than for loads, since a line that is stored to moves twice: it is fetched, and written back later. The page
// tables' cache (TLB) and the prefetchers have 16 rows of y to follow instead of C. That relieves memory, more than the
// shuffles do.
//
// When it loses: where the rows of y do not begin at multiples of 64 bytes, a line of the tile lies in two lines of y,
// and the plain tiles can be quicker. At the right and the lower edge, tiles that are not whole go element by element:
// a matrix that is narrower than a tile gains nothing.
#include <algorithm>
#include <cstddef>
#include <cstring>

namespace {

constexpr int kTile = 16;  // floats in a cache line
typedef float Quad __attribute__((vector_size(16)));

Quad load(const float* from) {
  Quad quad;
  std::memcpy(&quad, from, sizeof(quad));
  return quad;
}

void store(float* to, Quad quad) { std::memcpy(to, &quad, sizeof(quad)); }

/// Computes y[c][r] = x[r][c] for 4 x 4 elements; rows of x are `x_pitch` apart, those of y `y_pitch`.
void transpose_square(const float* x, std::size_t x_pitch, float* y, std::size_t y_pitch) {
  const Quad a = load(x);
  const Quad b = load(x + x_pitch);
  const Quad c = load(x + 2 * x_pitch);
  const Quad d = load(x + 3 * x_pitch);
  const Quad ac_left = __builtin_shufflevector(a, c, 0, 4, 1, 5);
  const Quad ac_right = __builtin_shufflevector(a, c, 2, 6, 3, 7);
  const Quad bd_left = __builtin_shufflevector(b, d, 0, 4, 1, 5);
  const Quad bd_right = __builtin_shufflevector(b, d, 2, 6, 3, 7);
  store(y, __builtin_shufflevector(ac_left, bd_left, 0, 4, 1, 5));
  store(y + y_pitch, __builtin_shufflevector(ac_left, bd_left, 2, 6, 3, 7));
  store(y + 2 * y_pitch, __builtin_shufflevector(ac_right, bd_right, 0, 4, 1, 5));
  store(y + 3 * y_pitch, __builtin_shufflevector(ac_right, bd_right, 2, 6, 3, 7));
}

/// Transposes a tile as in the stages below, but whole tiles by squares.
void transpose_tile(const float* x, float* y, std::size_t R, std::size_t C, int rows, int columns) {
  if (rows < kTile || columns < kTile) {
    for (int c = 0; c < columns; ++c) {
      for (int r = 0; r < rows; ++r) y[c * R + r] = x[r * C + c];
    }
    return;
  }
  alignas(64) float tile[kTile][kTile];
  for (int r = 0; r < kTile; r += 4) {
    for (int c = 0; c < kTile; c += 4) transpose_square(x + r * C + c, C, &tile[c][r], kTile);
  }
  for (int c = 0; c < kTile; ++c) std::memcpy(y + c * R, tile[c], sizeof(tile[c]));
}

}  // namespace

extern "C" void solve(const float* x, float* y, int R, int C) {
  const std::size_t x_pitch = C;
  const std::size_t y_pitch = R;
  for (int c = 0; c < C; c += kTile) {
    for (int r = 0; r < R; r += kTile) {
      transpose_tile(x + r * x_pitch + c, y + c * y_pitch + r, y_pitch, x_pitch, std::min(kTile, R - r),
                     std::min(kTile, C - c));
    }
  }
}
