// @title Threads for each call
//
// Each call starts threads and joins them.
#include <thread>
static void twice(const float* x, float* y, int from, int to) {
  for (int i = from; i < to; ++i) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  std::thread other(twice, x, y, 0, N / 2);
  twice(x, y, N / 2, N);
  other.join();
}
