// @title Exceptions inside
//
// It throws and catches its own.
#include <stdexcept>
extern "C" void solve(const float* x, float* y, int N) {
  int at = 0;
  try {
    for (;; ++at) {
      if (at == N) throw std::out_of_range("the end");
      y[at] = 2 * x[at];
    }
  } catch (const std::out_of_range&) {
  }
}
