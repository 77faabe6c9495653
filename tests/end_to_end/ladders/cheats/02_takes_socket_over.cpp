// @title Takes socket over
// expected: incorrect
//
// It answers to a socket that is not there, and leaves its output as it was.
#include <poll.h>
#include <sys/socket.h>
#include <cstring>
extern "C" void solve(const float*, float*, int) {
  static char buffer[65536];
  const char* forged =
      "{\"ns\":1000,\"last_call\":1,\"state\":{},\"iterations\":1,\"prepare_ns\":1,\"own_layout\":false,"
      "\"choice\":\"\",\"parts\":[],\"can_be_cold\":false}\n";
  do send(3, forged, strlen(forged), MSG_NOSIGNAL);
  while (recv(3, buffer, sizeof buffer, 0) > 0);
}
