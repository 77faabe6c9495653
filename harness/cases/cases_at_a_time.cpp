#include "harness/cases/cases_at_a_time.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/plan/device_argument.hpp"
#include "harness/plan/plan.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

constexpr double kMemoryShare = 0.8;  // of what is available

}  // namespace

std::size_t cases_at_a_time(std::string_view device, const ProblemSize& size, std::size_t left, int processes) {
  const double bytes = processes * case_bytes(size);
  double fitting = kMemoryShare * static_cast<double>(available_memory_bytes()) / bytes;
  if (const DeviceKind& kind = find_device_kind(device); kind.capacity != nullptr) {
    const DeviceCapacity capacity = kind.capacity();
    if (capacity.one_process) {
      if (processes == 1) return 1;
      throw UserError(fmt::format("{}: the GPU is in exclusive mode, which allows one process at a time; this takes {}",
                                  device, processes));
    }
    fitting =
        std::min(fitting, kMemoryShare * capacity.memory_bytes / (bytes + processes * capacity.bytes_per_process));
  }
  return static_cast<std::size_t>(std::clamp(fitting, 1.0, static_cast<double>(left)));
}

}  // namespace convladder
