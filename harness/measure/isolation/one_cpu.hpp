// One CPU for two processes that are compared.
//
// The CPUs of a machine can differ in speed for seconds at a time: a neighbour on the other hardware thread of a core,
// or another virtual machine, halves one and not the next. Two processes that take turns mostly stay on different ones,
// and the difference of the CPUs would be taken for theirs.
#pragma once

#include <sched.h>

#include <cstdint>

namespace convladder {

/// Whether OMP_NUM_THREADS is 1: then each case has one thread.
bool one_thread_is_set();

/// While it lives, processes that this thread starts may use one CPU only, of those that this thread may use number
/// `which` modulo their count. Does nothing unless it is `wanted`, since several threads need CPUs of their own, or if
/// the system refuses.
class OneCpu {
 public:
  explicit OneCpu(std::uint64_t which, bool wanted = one_thread_is_set());
  ~OneCpu();
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;

 private:
  cpu_set_t before_{};
  bool chosen_ = false;
};

}  // namespace convladder
