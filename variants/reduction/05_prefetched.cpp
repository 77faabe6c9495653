// @title Asked for ahead
// @hypothesis lines that are asked for early have come when they are added, also across the ends of pages
// @parameter AHEAD 2048 512 1024 4096
//
// The core notices on its own that a loop walks through memory and fetches lines ahead. But it stops at the end of each
// page, since it does not know what the next one is, and starts anew behind it. Against stage 4 the loop asks for the
// line that lies AHEAD bytes further itself, one instruction for each vector. So more lines are under way, and none of
// the starts is waited for. That relieves the memory's latency.
//
// When it loses: for data in the first-level caches the instructions are wasted, and where the cores reach the memory's
// rate anyway nothing is gained. How far ahead is best depends on the machine; too far, and lines are evicted again
// before they are used.
#include <algorithm>

#include "vector_sums.hpp"

#ifndef AHEAD
#define AHEAD 2048
#endif

extern "C" void solve(const float* x, float* y, int N) {
  constexpr int kPart = 16384;
  constexpr int kAlone = 65536;
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (N > kAlone)
  for (int begin = 0; begin < N; begin += kPart) sum += sum_of_part<AHEAD>(x + begin, std::min(kPart, N - begin));
  *y = static_cast<float>(sum);
}
