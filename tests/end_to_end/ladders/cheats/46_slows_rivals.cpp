// @title Slows rivals
// expected: ok
//
// It takes processors from others, or slows them down. It aborts if the system lets it; its threads stand still between
// calls.
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <thread>
extern "C" void solve(const float* x, float* y, int N) {
  static bool begun = false;
  if (!begun) {
    begun = true;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(getppid(), sizeof one, &one) == 0 || kill(getppid(), 0) == 0 ||
        setpriority(PRIO_PROCESS, 0, 19) == 0)
      abort();
    std::thread([] {
      for (;;) {
      }
    }).detach();
  }
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
