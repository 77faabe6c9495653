// Threads that libraries start in this process, beside OpenMP's. Idle threads of either kind spin for a while before
// they sleep, and on a machine with few cores they take the other kind's cores: a call of ONNX Runtime was seen to take
// up to twice as long where OpenMP's threads had something to do just before it.
#pragma once

#include <functional>

namespace convladder {

/// As long as an object exists, a library has threads of its own in this process.
class OtherThreads {
 public:
  /// `rest` sends these threads to sleep where they would spin for longer than OpenMP's do; it must not throw.
  explicit OtherThreads(std::function<void()> rest = nullptr);
  OtherThreads(const OtherThreads&) = delete;
  OtherThreads& operator=(const OtherThreads&) = delete;
  ~OtherThreads();

  /// Whether there are any such threads: work between timed calls then uses one thread.
  static bool any();
  /// Sends them to sleep, since they get no work soon.
  static void rest();

 private:
  std::function<void()> rest_;
};

}  // namespace convladder
