// @title Many threads
// expected: crashed, timeout
// slow
//
// It starts threads until none can be started.
#include <unistd.h>
#include <thread>
extern "C" void solve(const float*, float*, int) {
  for (;;)
    std::thread([] {
      for (;;) pause();
    }).detach();
}
