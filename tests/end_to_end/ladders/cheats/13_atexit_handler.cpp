// @title Atexit handler
// expected: ok
//
// What it would do at the end of the process is never reached: the process is killed.
#include <unistd.h>
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int N) {
  static const int once = atexit([] {
    for (;;) pause();
  });
  (void)once;
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
