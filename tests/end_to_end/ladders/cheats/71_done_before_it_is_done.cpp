// @title Done before it is done
// expected: incorrect, refused
//
// It says that it is done, and goes on until it is stopped.
#include "handover.hpp"
extern "C" void solve(const float* x, float* y, int N) {
  static Page* const page = find_page();
  const int early = N / 4;
  for (int i = 0; i < early; ++i) y[i] = 2 * x[i];
  if (page != nullptr) page->done.set(page->begun.value);
  for (int i = early; i < N; ++i) y[i] = 2 * x[i];
}
