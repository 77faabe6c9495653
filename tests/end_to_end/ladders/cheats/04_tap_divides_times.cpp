// @title Tap divides times
// expected: ok
//
// The same, dividing the times in answers. No time is claimed by this process.
#include <sys/socket.h>
#include <unistd.h>
#include <cstdlib>
#include <string>
#include <thread>
static void relay(int from, int to, bool replies) {
  std::string pending;
  char buffer[65536];
  for (ssize_t n; (n = recv(from, buffer, sizeof buffer, 0)) > 0;) {
    pending.append(buffer, n);
    for (size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
      std::string line = pending.substr(0, end + 1);
      const size_t at = line.find("\"ns\":");
      if (replies && at != std::string::npos) {
        const size_t stop = line.find_first_of(",}", at);
        line.replace(at + 5, stop - at - 5, std::to_string(atof(line.c_str() + at + 5) / 50));
      }
      send(to, line.data(), line.size(), MSG_NOSIGNAL);
    }
  }
}
extern "C" void solve(const float* x, float* y, int N) {
  static bool tapped = false;
  int ends[2];
  if (!tapped && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
    tapped = true;
    const int parent = dup(3);
    dup2(ends[0], 3);
    std::thread(relay, parent, ends[1], false).detach();
    std::thread(relay, ends[1], parent, true).detach();
  }
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
