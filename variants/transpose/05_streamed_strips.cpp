// @title Streamed strips
// @hypothesis y goes to memory without being fetched first: two thirds of the bytes
// @parameter ROWS 128 64 256 512
//
// Against the stage below, 16 columns of 128 rows are turned around in the first-level cache before anything is
// written. Then each of the 16 rows of y gets 512 bytes at once, with stores that go past the caches (non-temporal). A
// usual store first fetches the line that it is about to fill, and 64 bytes of y cost 128 bytes of traffic; these do
// not. 8 bytes move for an element instead of 12, which relieves the memory. So the stores may jump now, and the next
// strip is the one to the right: the lines of x that it needs lie behind those just read.
//
// When it loses: if the next user needs y and the caches could have held it; then it has to be fetched from memory. The
// stores take whole lines only, so a piece of a row begins and ends with usual stores where it begins or ends within a
// line: if R is no multiple of 16, two broken lines for each piece. Longer pieces have fewer, but fit worse into the
// first-level cache. A single core may not see the difference, since it does not reach the memory's rate.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE__)
#include <immintrin.h>
#endif

#ifndef ROWS
#define ROWS 128
#endif

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

#if defined(__SSE__)
/// Stores a line of 64 bytes past the caches.
void stream_line(float* to, const float* from) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, _mm512_loadu_ps(from));
#elif defined(__AVX__)
  for (int i = 0; i < kTile; i += 8) _mm256_stream_ps(to + i, _mm256_loadu_ps(from + i));
#else
  for (int i = 0; i < kTile; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
#endif
}
#endif

/// Copies `count` floats past the caches, except for broken lines at both ends.
void stream(float* to, const float* from, int count) {
  int i = 0;
#if defined(__SSE__)
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % 64 != 0; ++i) to[i] = from[i];
  for (; i + kTile <= count; i += kTile) stream_line(to + i, from + i);
#endif
  for (; i < count; ++i) to[i] = from[i];
}

/// Computes y[c][r] = x[r][c] for up to ROWS x kTile elements of x.
void transpose_piece(const float* x, float* y, std::size_t R, std::size_t C, int rows, int columns) {
  alignas(64) float piece[kTile][ROWS];
  const int whole_rows = columns == kTile ? rows / 4 * 4 : 0;
  for (int r = 0; r < whole_rows; r += 4) {
    for (int c = 0; c < kTile; c += 4) transpose_square(x + r * C + c, C, &piece[c][r], ROWS);
  }
  for (int r = whole_rows; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) piece[c][r] = x[r * C + c];
  }
  for (int c = 0; c < columns; ++c) stream(y + c * R, piece[c], rows);
}

}  // namespace

extern "C" void solve(const float* x, float* y, int R, int C) {
  const std::size_t x_pitch = C;
  const std::size_t y_pitch = R;
  constexpr int kColumns = 256;  // columns that a core has in one go
#pragma omp parallel
  {
#pragma omp for collapse(2) schedule(static)
    for (int r = 0; r < R; r += ROWS) {
      for (int first = 0; first < C; first += kColumns) {
        for (int c = first; c < std::min(C, first + kColumns); c += kTile) {
          transpose_piece(x + r * x_pitch + c, y + c * y_pitch + r, y_pitch, x_pitch, std::min(ROWS, R - r),
                          std::min(kTile, C - c));
        }
      }
    }
#if defined(__SSE__)
    _mm_sfence();  // such stores may arrive late: after this they have arrived
#endif
  }
}
