// @title Copies in the order of reading
// @hypothesis Packed strips are read in order: no row of B on another page, no two rows of A in one set of the cache.
// @parameter DEPTH 256 192 384 512
// @parameter STRIPS 8 4 16
//
// Before it is used, a block of A (STRIPS x 14 rows x DEPTH) and a block of B (DEPTH x 4096 columns) are copied, each
// into the very order in which the register tile reads it: strips of 14 rows of A turned into columns, strips of 32
// columns of B, with zeros where the last one is not full. Against the stage below every load follows the one before
// it, so that pages and prefetching no longer matter. A strip of B (32 KiB) stays in the first-level cache while the
// block of A (112 KiB) passes by from the second level. That relieves the translation of addresses and the sets of the
// cache that rows of a power of two crowd into.
//
// When it loses: copying costs a load and a store for each element of A and B; each serves all columns or all rows, so
// it pays from some dozens of them on. With M = 1 the copy of B is all there is. At 512 x 512 x 512 both matrices fit
// into the second-level cache, and the stage below is as fast; the gain is in larger and deeper products.
#include <algorithm>
#include <cstddef>

#include "packed_blocks.hpp"

#ifndef DEPTH
#define DEPTH 256
#endif
#ifndef STRIPS
#define STRIPS 8
#endif

using namespace register_tile;

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
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
        pack_columns(b + k0 * pitch + j0 + j, pitch, std::min(kColumns, block_columns - j), depth, b_block + j * depth);
      }
      for (int i0 = 0; i0 < M; i0 += kBlockRows) {
        const int block_rows = std::min(kBlockRows, M - i0);
        for (int i = 0; i < block_rows; i += kRows) {
          pack_rows(a + static_cast<std::size_t>(i0 + i) * K + k0, static_cast<std::size_t>(K),
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
