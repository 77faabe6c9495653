// @title Threads that wait
//
// Threads are started once, wait between calls, and are waited for by each.
#include <condition_variable>
#include <mutex>
#include <thread>
static void twice(const float* x, float* y, int from, int to) {
  for (int i = from; i < to; ++i) y[i] = 2 * x[i];
}
static std::mutex lock;
static std::condition_variable changed;
static const float* from;
static float* to;
static int count, work = 0, done = 0;
static void worker() {
  for (int seen = 0;;) {
    std::unique_lock held(lock);
    changed.wait(held, [&] { return work != seen; });
    seen = work;
    held.unlock();
    twice(from, to, 0, count / 2);
    held.lock();
    done = seen;
    changed.notify_all();
  }
}
extern "C" void solve(const float* x, float* y, int N) {
  static const bool started = (std::thread(worker).detach(), true);
  std::unique_lock held(lock);
  from = x, to = y, count = N;
  const int own = work += started;
  changed.notify_all();
  held.unlock();
  twice(x, y, N / 2, N);
  held.lock();
  changed.wait(held, [&] { return done == own; });
}
