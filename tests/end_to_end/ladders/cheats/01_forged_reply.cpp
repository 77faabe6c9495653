// @title Forged reply
// expected: ok
//
// There is no socket to write to: it finds nothing to forge, and its work is done.
#include <sys/socket.h>
#include <cstring>
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  const char* forged = "{\"ns\":1,\"last_call\":1,\"state\":{}}\n";
  send(3, forged, strlen(forged), MSG_NOSIGNAL);
}
