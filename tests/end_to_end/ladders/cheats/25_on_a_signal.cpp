// @title On a signal
// expected: incorrect
//
// A signal does the work soon after the return. It does not arrive before the output is read.
#include <sys/time.h>
#include <csignal>
static const float* from = nullptr;
static float* to = nullptr;
static int count = 0;
static void work(int) {
  for (int i = 0; i < count; ++i) to[i] = 2 * from[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  from = x;
  to = y;
  count = N;
  signal(SIGALRM, work);
  const itimerval soon{{0, 0}, {0, 50}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}
