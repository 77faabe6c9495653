// @title Thread after the return
// expected: incorrect
//
// A thread does the work after the return. It stands still when the call is over.
#include <atomic>
#include <thread>
static std::atomic<const float*> from{nullptr};
static float* to = nullptr;
static int count = 0;
static void work() {
  for (;;) {
    const float* const x = from.exchange(nullptr);
    for (int i = 0; x != nullptr && i < count; ++i) to[i] = 2 * x[i];
  }
}
extern "C" void solve(const float* x, float* y, int N) {
  static std::thread* const thread = new std::thread(work);
  (void)thread;
  to = y;
  count = N;
  from = x;
}
