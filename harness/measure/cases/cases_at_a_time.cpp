#include "harness/measure/cases/cases_at_a_time.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "support/errors.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr double kMemoryShare = 0.8;            // of what is available
constexpr double kHostBytesOfAContext = 400e6;  // for CUDA's libraries and buffers; not measured

/// Whether tensors lie in memory that is not the host's. A GPU whose clock is virtual is simulated in it.
bool has_own_memory(const DeviceKind& kind) { return kind.capacity != nullptr && !kind.clock_is_virtual(); }

DeviceCapacity capacity_of(const DeviceKind& kind) {
  return kind.capacity == nullptr ? DeviceCapacity() : kind.capacity();
}

/// The bytes of the host's memory that a case takes: beside a device with memory of its own, only the run's inputs and
/// the copy that a case makes of them.
double host_bytes(const DeviceKind& kind, const ProblemSize& size) {
  return has_own_memory(kind) ? 2 * size.input_bytes() : case_bytes(size);
}

struct Room {
  double needed = 0;     ///< bytes for a batch
  double of_images = 0;  ///< the part of `needed` that grows with the batch
  double there = 0;
};

/// Empty if the needed memory is there.
std::string why_not(const Room& room, int batch, const char* memory, const char* there) {
  if (room.needed <= room.there) return {};
  std::string why = fmt::format("batch {} needs {} of {}, {} {}", batch, memory_text(room.needed), memory,
                                memory_text(room.there), there);
  const double fitting = (room.there - (room.needed - room.of_images)) / room.of_images * batch;
  if (fitting >= 1) why += fmt::format("; the largest batch that fits is about {}", static_cast<long>(fitting));
  return why;
}

std::string why_not_on_host(const DeviceKind& kind, const ProblemSize& size, int processes) {
  const double needed = processes * host_bytes(kind, size);
  return why_not({needed, needed, static_cast<double>(available_memory_bytes())}, size.batch, "memory",
                 "are available");
}

/// Why the device has no room for `bytes` of each process, beside its context. Empty where the device does not say what
/// it has.
std::string why_not_on_device(const DeviceKind& kind, const ProblemSize& size, int processes, double bytes) {
  const DeviceCapacity capacity = capacity_of(kind);
  if (capacity.free_bytes <= 0) return {};
  const double images = processes * bytes;
  return why_not({images + processes * capacity.bytes_per_process, images, capacity.free_bytes}, size.batch,
                 "the GPU's memory", "are free");
}

/// Why there is no room for a case that is counted. A few images of its batch are computed and compared; the others
/// have addresses, and no memory unless they are touched.
std::string why_not_counted(const ProblemSize& size) {
  const double addresses = size.tensor_bytes();
  std::string why =
      why_not({addresses, addresses, static_cast<double>(total_memory_bytes())}, size.batch, "memory", "are there");
  if (!why.empty()) return why;
  const double touched = case_bytes(size.with_batch(std::min(size.batch, kCountedImages)));
  return why_not({touched, touched, static_cast<double>(available_memory_bytes())}, size.batch, "memory",
                 "are available");
}

}  // namespace

std::string why_no_room(std::string_view device, const ProblemSize& size, int processes) {
  const DeviceKind& kind = find_device_kind(device);
  if (!kind.has_clock) return why_not_counted(size);
  std::string why = why_not_on_host(kind, size, processes);
  return why.empty() ? why_not_on_device(kind, size, processes, size.tensor_bytes()) : why;
}

std::string why_no_room_for_layouts(std::string_view device, const ProblemSize& size) {
  return why_not_on_device(find_device_kind(device), size, 1, case_bytes(size));
}

bool has_other_processes(std::string_view device) { return capacity_of(find_device_kind(device)).other_processes > 0; }

bool takes_one_process(std::string_view device) { return capacity_of(find_device_kind(device)).one_process; }

std::size_t cases_at_a_time(std::string_view device, const ProblemSize& size, std::size_t left, int processes) {
  const DeviceKind& kind = find_device_kind(device);
  double of_host = processes * host_bytes(kind, size);
  if (has_own_memory(kind)) of_host += processes * kHostBytesOfAContext;
  double fitting = kMemoryShare * static_cast<double>(available_memory_bytes()) / of_host;
  if (kind.capacity != nullptr) {
    const DeviceCapacity capacity = kind.capacity();
    if (capacity.one_process) {
      if (processes == 1) return 1;
      throw UserError(fmt::format("{}: the GPU is in exclusive mode, which allows one process at a time; this takes {}",
                                  device, processes));
    }
    const double of_device = processes * (case_bytes(size) + capacity.bytes_per_process);
    fitting = std::min(
        {fitting, kMemoryShare * capacity.free_bytes / of_device, static_cast<double>(kMostContexts) / processes});
  }
  const auto most = static_cast<std::size_t>(std::clamp(fitting, 1.0, static_cast<double>(left)));
  const std::size_t waves = (left + most - 1) / most;
  return (left + waves - 1) / waves;
}

}  // namespace convladder
