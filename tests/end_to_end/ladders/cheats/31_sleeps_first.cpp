// @title Sleeps first
// expected: ok
//
// A slow first call has the calibration left out. It is slower for it.
#include <unistd.h>
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  if (++calls <= 4) usleep(300000);
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
