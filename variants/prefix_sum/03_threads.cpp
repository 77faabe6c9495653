// @title Threads
// @hypothesis the parts of the input are scanned by several cores at once, once each knows what is before its part
//
// Each thread sums its part. When all know their sums, each adds up those of the parts before its own, and scans its
// part onto that. So the work of stage 2 is divided among the cores, for one more pass over the input that only reads.
// That relieves the core.
//
// When it loses: from memory that pass is a third of the traffic on top, and with two cores it eats up much of what the
// second one brings. Small inputs, up to 65536 numbers, are one thread's: starting the others takes longer.
#include <omp.h>

#include <vector>

#include "vector_scan.hpp"

extern "C" void solve(const int32_t* x, int32_t* y, int N) {
  constexpr int kAlone = 65536;
  if (N <= kAlone) {
    scan_part(x, y, N, 0);
    return;
  }
  std::vector<int32_t> sums(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  {
    const int threads = omp_get_num_threads();
    const int thread = omp_get_thread_num();
    const int begin = static_cast<int>(int64_t{N} * thread / threads);
    const int end = static_cast<int>(int64_t{N} * (thread + 1) / threads);
    sums[static_cast<std::size_t>(thread)] = sum_of_part(x + begin, end - begin);
#pragma omp barrier
    int32_t before = 0;
    for (int other = 0; other < thread; ++other) before += sums[static_cast<std::size_t>(other)];
    scan_part(x + begin, y + begin, end - begin, before);
  }
}
