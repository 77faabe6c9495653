// @title Starts a program
// expected: ok
//
// It starts a program. It aborts if the system lets it.
#include <unistd.h>
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int N) {
  if (system("true") == 0) abort();
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
