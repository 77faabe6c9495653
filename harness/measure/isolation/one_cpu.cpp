#include "harness/measure/isolation/one_cpu.hpp"

#include <cstdlib>
#include <string_view>

namespace convladder {

bool one_thread_is_set() {
  const char* const threads = std::getenv("OMP_NUM_THREADS");
  return threads != nullptr && std::string_view(threads) == "1";
}

OneCpu::OneCpu(std::uint64_t which, bool wanted) {
  if (!wanted || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  std::uint64_t left = which % static_cast<std::uint64_t>(CPU_COUNT(&before_));
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before_) == 0 || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    chosen_ = sched_setaffinity(0, sizeof one, &one) == 0;
    return;
  }
}

OneCpu::~OneCpu() {
  if (chosen_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace convladder
