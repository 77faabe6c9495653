// @title A running sum
// @hypothesis the baseline: one number after the other, since each sum needs the one before it
//
// The definition as a loop. Each sum is the last one and a number, so the additions are a chain: one for each cycle,
// and no more, whatever else the core could do. For whole numbers, whose addition takes a single cycle, that is not
// bad; it is what makes the scan hard to speed up.
#include <cstdint>

extern "C" void solve(const int32_t* x, int32_t* y, int N) {
  int32_t sum = 0;
  for (int i = 0; i < N; ++i) {
    sum += x[i];
    y[i] = sum;
  }
}
