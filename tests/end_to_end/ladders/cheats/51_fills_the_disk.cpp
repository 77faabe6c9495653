// @title Fills the disk
// expected: ok
//
// It writes files. It aborts if the system lets it.
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
extern "C" void solve(const float* x, float* y, int N) {
  for (const char* one :
       {"/tmp/convladder_full", "/var/tmp/convladder_full", "/dev/shm/convladder_full", "convladder_full"}) {
    if (fopen(one, "w") != nullptr) abort();
  }
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
