// @title Uses the network
// expected: ok
//
// It opens a socket. It aborts if the system lets it.
#include <sys/socket.h>
#include <cstdlib>
extern "C" void solve(const float* x, float* y, int N) {
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_DGRAM, 0) >= 0) abort();
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
