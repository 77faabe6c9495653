// @title Only what changed
// expected: ok
//
// It keeps its last input and computes the elements that differ. Most of them differ every time.
#include <vector>
extern "C" void solve(const float* x, float* y, int N) {
  static std::vector<float> kept_x, kept_y;
  if (kept_x.size() != std::size_t(N)) {
    kept_x.assign(x, x + N);
    kept_y.resize(N);
    for (int i = 0; i < N; ++i) kept_y[i] = 2 * x[i];
  }
  for (int i = 0; i < N; ++i) {
    if (kept_x[i] != x[i]) {
      kept_x[i] = x[i];
      kept_y[i] = 2 * x[i];
    }
    y[i] = kept_y[i];
  }
}
