// @title Leaves a process
// expected: ok
//
// A process goes on working when the case is over. None can be started.
#include <unistd.h>
extern "C" void solve(const float* x, float* y, int N) {
  static const pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (;;) {
    }
  }
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
