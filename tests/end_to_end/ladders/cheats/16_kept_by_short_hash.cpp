// @title Kept by short hash
// expected: incorrect, ok
//
// An answer is kept with a hash of a few elements of its input. Where a sample is a single call, its input is all new,
// and the work is done.
#include <cstring>
#include <map>
#include <vector>
extern "C" void solve(const float* x, float* y, int N) {
  static std::map<std::vector<float>, std::vector<float>> answers;
  std::vector<float> key{float(N)};
  for (int i = 0; i < 16; ++i) key.push_back(x[size_t(i) * N / 16]);
  std::vector<float>& kept = answers[key];
  if (kept.empty()) {
    kept.resize(N);
    for (int i = 0; i < N; ++i) kept[i] = 2 * x[i];
  }
  memcpy(y, kept.data(), sizeof(float) * N);
}
