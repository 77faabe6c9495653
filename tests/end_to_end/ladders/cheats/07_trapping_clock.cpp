// @title Trapping clock
// expected: ok
//
// Has the processor trap when somebody reads its counter. It aborts if the system lets it.
#include <sys/prctl.h>
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int N) {
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0) abort();  // a handler would go on from here
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
