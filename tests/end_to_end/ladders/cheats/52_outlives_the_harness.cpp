// @title Outlives the harness
// expected: ok
//
// It would go on when the harness has ended. It aborts if the system lets it.
#include <sys/prctl.h>
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int N) {
  if (prctl(PR_SET_PDEATHSIG, 0) == 0) abort();
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
