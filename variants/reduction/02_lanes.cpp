// @title A vector of sums
// @hypothesis sixteen chains of additions go on side by side in the lanes of a vector
//
// Against stage 1 there are sixteen sums, one in each lane of a vector: number i is added to sum i mod 16. One
// instruction adds sixteen numbers, and the latency of an addition is paid once for all of them. They are floats now,
// so after each part of 4096 numbers, in which a float loses next to nothing, they are added to a double.
//
// It loses where there are fewer numbers than a vector or two has lanes. One chain of vectors is still a chain: the
// core could start two such additions in every cycle, and waits for the last one instead.
#include <algorithm>

#include "vector_sums.hpp"

extern "C" void solve(const float* x, float* y, int N) {
  constexpr int kPart = 4096;
  const int whole = N - N % kLanes;
  double sum = 0;
  for (int begin = 0; begin < whole; begin += kPart) {
    const int end = std::min(whole - begin, kPart) + begin;
    Floats sums = {};
    for (int i = begin; i < end; i += kLanes) {
      Floats next;
      load(next, x + i);
      sums += next;
    }
    sum += sum_of_lanes(sums);
  }
  for (int i = whole; i < N; ++i) sum += x[i];
  *y = static_cast<float>(sum);
}
