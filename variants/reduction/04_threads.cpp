// @title Threads
// @hypothesis several cores together have more loads under way than one, and more of the memory's rate
//
// One core has a fixed number of cache lines under way, so it alone does not reach what the memory could deliver.
// Against stage 3 each core sums a part of its own; the parts' sums are added at the end. That relieves the memory's
// latency, and for what fits into the caches there are as many loads in a cycle as there are cores times two.
//
// When it loses: starting and joining threads takes some microseconds, more than a small sum: below 65536 numbers one
// thread works alone. Where one core reaches the memory's rate already, the others gain nothing.
#include <algorithm>

#include "vector_sums.hpp"

extern "C" void solve(const float* x, float* y, int N) {
  constexpr int kPart = 16384;
  constexpr int kAlone = 65536;
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (N > kAlone)
  for (int begin = 0; begin < N; begin += kPart) sum += sum_of_part(x + begin, std::min(kPart, N - begin));
  *y = static_cast<float>(sum);
}
