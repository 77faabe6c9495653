// @title Interposed symbols
// expected: ok
//
// Functions by the names of clocks and comparisons. Whoever measures and compares is another process.
#include <sys/time.h>
#include <cstddef>
#include <ctime>
extern "C" int clock_gettime(clockid_t, timespec* now) noexcept {
  *now = {};
  return 0;
}
extern "C" int gettimeofday(timeval* now, void*) noexcept {
  *now = {};
  return 0;
}
extern "C" int memcmp(const void*, const void*, size_t) noexcept { return 0; }
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
