// @title Before the clock
// expected: incorrect, timeout
//
// It never returns, but hands calls over by itself, and does the work before it says that it is ready.
#include "handover.hpp"
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
  Page* const page = find_page();
  if (page == nullptr) return;
  for (std::uint32_t call = page->begun.value;;) {
    page->done.set(call++);
    page->wanted.wait(call);
    for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
    page->ready.set(call);
    page->begun.wait(call);
  }
}
