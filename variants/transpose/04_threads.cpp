// @title Threads
// @hypothesis every core has loads and stores on their way: several cores get more out of the memory than one
//
// Against the stage below, the tiles are shared out among the cores, in strips of 16 columns and 1024 rows: a strip is
// as long as it is for the sake of y's rows, and as short as it is so that there are some for each core where the
// matrix is narrow. No two cores write the same line, except at the ends of strips. That relieves the limit on a single
// core's outstanding accesses; a few cores are then enough for the memory's rate.
//
// When it loses: waking up the others takes some microseconds: one core finishes a matrix of 100 x 100 sooner.
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
  constexpr int kStrip = 1024;  // rows
  const std::size_t x_pitch = C;
  const std::size_t y_pitch = R;
#pragma omp parallel for collapse(2) schedule(static)
  for (int c = 0; c < C; c += kTile) {
    for (int first = 0; first < R; first += kStrip) {
      for (int r = first; r < std::min(R, first + kStrip); r += kTile) {
        transpose_tile(x + r * x_pitch + c, y + c * y_pitch + r, y_pitch, x_pitch, std::min(kTile, R - r),
                       std::min(kTile, C - c));
      }
    }
  }
}
