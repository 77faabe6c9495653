// @title Kept by pointer
// expected: incorrect
//
// An answer is kept with the address of its input.
#include <cstring>
#include <map>
#include <vector>
extern "C" void solve(const float* x, float* y, int N) {
  static std::map<const float*, std::vector<float>> answers;
  std::vector<float>& kept = answers[x];
  if (kept.size() != size_t(N)) {
    kept.resize(N);
    for (int i = 0; i < N; ++i) kept[i] = 2 * x[i];
  }
  memcpy(y, kept.data(), sizeof(float) * N);
}
