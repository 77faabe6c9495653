// @title Endless message
// expected: incorrect, crashed, timeout
//
// A message without an end would fill the memory of who reads it.
#include <sys/socket.h>
#include <cstring>
extern "C" void solve(const float*, float*, int) {
  static char text[1 << 16];
  memset(text, 'x', sizeof text);
  while (send(3, text, sizeof text, MSG_NOSIGNAL) > 0) {
  }
}
