// @title Own output
// expected: incorrect
//
// It returns where its output holds what it wrote last.
#include <cstring>
#include <vector>
extern "C" void solve(const float* x, float* y, int N) {
  static std::vector<float> last;
  if (last.size() == size_t(N) && memcmp(last.data(), y, 64 < N ? 256 : sizeof(float) * N) == 0) return;
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  last.assign(y, y + N);
}
