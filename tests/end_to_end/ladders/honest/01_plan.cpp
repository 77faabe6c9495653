// @title A plan that is kept
//
// What depends on the size only is made once and kept between calls, as libraries do.
#include <map>
#include <memory>
#include <vector>
extern "C" void solve(const float* x, float* y, int N) {
  static std::map<int, std::vector<int>> plans;
  std::vector<int>& plan = plans[N];
  if (plan.empty()) {
    for (int i = 0; i < N; i += 1024) plan.push_back(i);
  }
  for (const int from : plan) {
    for (int i = from; i < N && i < from + 1024; ++i) y[i] = 2 * x[i];
  }
}
