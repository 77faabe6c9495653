// @title Tuned in its first calls
//
// It tries two ways in its first calls, by the clock, and takes the faster from then on.
#include <chrono>
#include <cstring>
static void plain(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
static void blocks(const float* x, float* y, int N) {
  for (int from = 0; from < N; from += 64) {
    for (int i = from; i < N && i < from + 64; ++i) y[i] = x[i] + x[i];
  }
}
extern "C" void solve(const float* x, float* y, int N) {
  static int calls = 0;
  static double ns[2] = {1e30, 1e30};
  const int way = calls < 8 ? calls % 2 : ns[1] < ns[0];
  ++calls;
  const auto begin = std::chrono::steady_clock::now();
  (way == 0 ? plain : blocks)(x, y, N);
  const double taken = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  if (taken < ns[way]) ns[way] = taken;
}
