// @title Packed as floats, sums in registers
// @hypothesis What is copied for the register tile anyway is converted on the way: the rest is a product of floats.
// @parameter DEPTH 256 192 384 512
// @parameter STRIPS 8 4 16
//
// The stage `packed` of the matrix multiplication, whose copies of A and B are made of floats while these are half
// floats. A conversion is one more instruction for 8 or 16 elements that are loaded and stored in any case, and each
// serves all rows or all columns of a block. What is left is the register tile (14 x 32 sums with AVX-512): 28 vector
// multiply-adds for 16 loads. Against the stage below no sum is loaded or stored inside the loop. That relieves the
// ports of the first-level cache.
//
// When it loses: the same speed as with floats is all that can be had this way, though half the bytes come from
// memory. With few rows or columns, copying is most of the work.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "half_blocks.hpp"

#ifndef DEPTH
#define DEPTH 256
#endif
#ifndef STRIPS
#define STRIPS 8
#endif

using namespace register_tile;

extern "C" void solve(const std::uint16_t* a, const std::uint16_t* b, float* c, int M, int N, int K) {
  constexpr int kBlockRows = STRIPS * kRows;
  constexpr int kBlockColumns = 4096;
  static Buffer a_buffer;
  static Buffer b_buffer;
  const std::size_t pitch = static_cast<std::size_t>(N);
  const int blocks = (K + DEPTH - 1) / DEPTH;
  const int most_depth = (K + blocks - 1) / blocks;  // blocks of equal depth, none of a few steps at the end
  float* const a_block = a_buffer.at_least(static_cast<std::size_t>(kBlockRows) * most_depth);
  float* const b_block = b_buffer.at_least(static_cast<std::size_t>(most_depth) * kBlockColumns);

  for (int j0 = 0; j0 < N; j0 += kBlockColumns) {
    const int block_columns = std::min(kBlockColumns, N - j0);
    for (int k0 = 0; k0 < K; k0 += most_depth) {
      const int depth = std::min(most_depth, K - k0);
      for (int j = 0; j < block_columns; j += kColumns) {
        half_blocks::pack_columns(b + k0 * pitch + j0 + j, pitch, std::min(kColumns, block_columns - j), depth,
                                  b_block + j * depth);
      }
      for (int i0 = 0; i0 < M; i0 += kBlockRows) {
        const int block_rows = std::min(kBlockRows, M - i0);
        for (int i = 0; i < block_rows; i += kRows) {
          half_blocks::pack_rows(a + static_cast<std::size_t>(i0 + i) * K + k0, static_cast<std::size_t>(K),
                                 std::min(kRows, block_rows - i), depth, a_block + i * depth);
        }
        for (int j = 0; j < block_columns; j += kColumns) {
          for (int i = 0; i < block_rows; i += kRows) {
            const Target target{c + (i0 + i) * pitch + j0 + j, pitch, std::min(kColumns, block_columns - j), k0 == 0};
            multiply_packed(a_block + i * depth, b_block + j * depth, std::min(kRows, block_rows - i), depth, target);
          }
        }
      }
    }
  }
}
