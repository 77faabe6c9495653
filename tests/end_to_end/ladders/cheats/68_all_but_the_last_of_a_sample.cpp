// @title All but the last of a sample
// expected: incorrect
//
// A sample begins after a pause. It counts the calls of each, and works only in those that are the last ones.
#include <ctime>
static long now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000L + time.tv_nsec;
}
extern "C" void solve(const float* x, float* y, int N) {
  static long last = 0;
  static int calls = 0, usual = 0;
  if (now() - last > 700'000) {
    if (calls > 3) usual = calls;
    calls = 0;
  }
  ++calls;
  if (usual == 0 || calls >= usual - 1) {
    for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  }
  last = now();
}
