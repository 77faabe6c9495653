// @title Not a number
// expected: incorrect
//
// NaN as a wildcard.
#include <cmath>
extern "C" void solve(const float*, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = NAN;
}
