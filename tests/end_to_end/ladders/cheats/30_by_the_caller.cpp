// @title By the caller
// expected: ok, incorrect
//
// The stack would tell a sample from a verification. All calls come from one place.
#include <execinfo.h>
#include <set>
extern "C" void solve(const float* x, float* y, int N) {
  static std::set<void*> ways;
  static int calls = 0;
  void* frames[6] = {};
  const int depth = backtrace(frames, 6);
  void* const way = frames[depth > 4 ? 4 : depth - 1];
  if (++calls <= 2) ways.insert(way);
  if (ways.count(way) == 0) return;
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
