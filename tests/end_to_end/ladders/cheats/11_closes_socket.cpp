// @title Closes socket
// expected: ok
//
// Nothing hangs on a socket.
#include <unistd.h>
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  close(3);
}
