// @title Every core
// @hypothesis All cores copy, then all take tiles of C from one list until it is empty.
// @parameter DEPTH 256 192 384 512
// @parameter STRIPS 8 4 16
//
// The stage below on all cores. For each block of the depth they copy strips of A and B together into memory that all
// share, wait for each other, and then take tasks from one list: STRIPS x 14 rows by as many strips of columns as give
// each core several tasks. No two tasks write the same element, so no order of them changes a result. A core that is
// slower, or has something else to do, takes fewer of them. That relieves the arithmetic, by as many cores as there
// are.
//
// When it loses: waiting for each other takes some microseconds for each block. Products of less than about a million
// multiply-adds are faster on one core.
#include <omp.h>

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

namespace {

constexpr int kTaskRows = STRIPS * kRows;
constexpr int kBlockRows = 4096 / kTaskRows * kTaskRows;
constexpr int kBlockColumns = 4096;

int rounded_up_quotient(int dividend, int divisor) { return (dividend + divisor - 1) / divisor; }

/// Columns of a task, so that there are about four tasks for each thread if there are enough strips.
int task_columns(int rows, int columns, int threads) {
  const int strips = rounded_up_quotient(columns, kColumns);
  const int tasks = 4 * threads;
  return std::clamp(strips * rounded_up_quotient(rows, kTaskRows) / tasks, 1, 8) * kColumns;
}

}  // namespace

extern "C" void solve(const float* a, const float* b, float* c, int M, int N, int K) {
  static Buffer a_buffer;
  static Buffer b_buffer;
  const std::size_t pitch = static_cast<std::size_t>(N);
  const int most_depth = rounded_up_quotient(K, rounded_up_quotient(K, DEPTH));  // blocks of equal depth
  float* const a_block = a_buffer.at_least(static_cast<std::size_t>(std::min(M, kBlockRows)) * most_depth);
  const int padded_columns = rounded_up_quotient(std::min(N, kBlockColumns), kColumns) * kColumns;
  float* const b_block = b_buffer.at_least(static_cast<std::size_t>(most_depth) * padded_columns);
  const bool is_small = static_cast<double>(M) * N * K < 1e6;

#pragma omp parallel if (!is_small)
  for (int j0 = 0; j0 < N; j0 += kBlockColumns) {
    const int columns = std::min(kBlockColumns, N - j0);
    for (int k0 = 0; k0 < K; k0 += most_depth) {
      const int depth = std::min(most_depth, K - k0);
#pragma omp for schedule(static) nowait
      for (int j = 0; j < columns; j += kColumns) {
        pack_columns(b + k0 * pitch + j0 + j, pitch, std::min(kColumns, columns - j), depth,
                     b_block + static_cast<std::size_t>(j) * depth);
      }
      for (int i0 = 0; i0 < M; i0 += kBlockRows) {
        const int rows = std::min(kBlockRows, M - i0);
#pragma omp for schedule(static)
        for (int i = 0; i < rows; i += kRows) {
          pack_rows(a + static_cast<std::size_t>(i0 + i) * K + k0, static_cast<std::size_t>(K),
                    std::min(kRows, rows - i), depth, a_block + static_cast<std::size_t>(i) * depth);
        }
        // Both loops over tasks end with all threads waiting: nobody copies over what another still reads.
        const int width = task_columns(rows, columns, omp_get_num_threads());
#pragma omp for schedule(dynamic) collapse(2)
        for (int task_row = 0; task_row < rows; task_row += kTaskRows) {
          for (int task_column = 0; task_column < columns; task_column += width) {
            for (int j = task_column; j < std::min(columns, task_column + width); j += kColumns) {
              for (int i = task_row; i < std::min(rows, task_row + kTaskRows); i += kRows) {
                const Target target{c + (i0 + i) * pitch + j0 + j, pitch, std::min(kColumns, columns - j), k0 == 0};
                multiply_packed(a_block + static_cast<std::size_t>(i) * depth,
                                b_block + static_cast<std::size_t>(j) * depth, std::min(kRows, rows - i), depth,
                                target);
              }
            }
          }
        }
      }
    }
  }
}
