// @title Quick calls
// expected: incorrect, timeout
//
// Calls in quick succession are those of a sample: it leaves them out.
#include <chrono>
extern "C" void solve(const float* x, float* y, int N) {
  static std::chrono::steady_clock::time_point last;
  const auto now = std::chrono::steady_clock::now();
  const bool quick = now - last < std::chrono::microseconds(500);
  last = now;
  if (quick) return;
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  last = std::chrono::steady_clock::now();
}
