// @title Says unsupported
// expected: timeout, crashed
//
// It would say of itself that it cannot run the size. It is asked nothing that it could answer.
#include <sys/socket.h>
#include <unistd.h>
#include <cstring>
extern "C" void solve(const float*, float*, int) {
  const char* forged = "{\"status\":\"unsupported\",\"reason\":\"not here\"}\n";
  send(3, forged, strlen(forged), MSG_NOSIGNAL);
  pause();
}
