// @title Zeros under tolerance
// expected: incorrect
//
// Small results are left at zero.
#include <cmath>
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = std::fabs(x[i]) < 0.005f ? 0 : 2 * x[i];
}
