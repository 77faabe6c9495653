// Threads that take pieces of the input in turn. The CPU stages from 04 on share them.
#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>

#include "vector_scan.hpp"

/// Each thread sums a piece, waits for its turn, hands on the sum of all up to the end of its piece, and then calls
/// `scan(x, y, n, before)` for the piece, which its cache still holds.
template <typename Scan>
void scan_in_turns(const int32_t* x, int32_t* y, int n, Scan scan) {
  constexpr int kPiece = 65536;  // 256 KB
  constexpr int kLooks = 10000;  // looks for some microseconds: sleeping and being woken takes longer than a turn
  const int pieces = (n - 1) / kPiece + 1;
  std::atomic<int> turn = 0;
  int32_t sum_so_far = 0;  // only the thread whose turn it is may use it
#pragma omp parallel
  for (int piece = omp_get_thread_num(); piece < pieces; piece += omp_get_num_threads()) {
    const int begin = piece * kPiece;
    const int numbers = std::min(kPiece, n - begin);
    const int32_t sum = sum_of_part(x + begin, numbers);
    int looks = 0;
    for (int now = turn.load(std::memory_order_acquire); now != piece; now = turn.load(std::memory_order_acquire)) {
      if (++looks > kLooks) turn.wait(now);
    }
    const int32_t before = sum_so_far;
    sum_so_far += sum;
    turn.store(piece + 1, std::memory_order_release);
    turn.notify_all();
    scan(x + begin, y + begin, numbers, before);
  }
}
