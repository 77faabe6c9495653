#include "simulator/stand_in/library_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "simulator/stand_in/machine.hpp"

namespace convladder::stand_in {
namespace {

using simulated::Checker;

const void* moved(const void* address, std::uint64_t bytes) {
  return reinterpret_cast<const void*>(  // NOLINT(performance-no-int-to-ptr): of the device
      reinterpret_cast<std::uint64_t>(address) + bytes);
}

/// Calls `each(address, bytes)` for every run, those that touch as one, as long as it returns true.
template <typename Each>
bool each_run(const MemoryUse& use, const Each& each) {
  if (use.runs == 0) return true;
  const bool is_whole = use.shift == 0 && use.growth == 0 && (use.runs == 1 || use.distance == use.run_bytes);
  if (is_whole) return use.run_bytes == 0 || each(use.address, use.runs * use.run_bytes);
  for (std::uint64_t run = 0; run < use.runs; ++run) {
    const auto number = static_cast<std::int64_t>(run);
    const std::int64_t bytes = static_cast<std::int64_t>(use.run_bytes) + number * use.growth;
    if (bytes <= 0) continue;
    const std::uint64_t at = run * use.distance + static_cast<std::uint64_t>(number * use.shift);
    if (!each(moved(use.address, at), static_cast<std::uint64_t>(bytes))) return false;
  }
  return true;
}

class Turn final : public LibraryTurn {
 public:
  Turn(Machine& machine, const EnqueuedLibraryWork& enqueued)
      : machine_(machine), device_(machine.device()), enqueued_(enqueued) {}

  void* host(const void* address) const override {
    if (const simulated::Allocation* const memory = device_.allocation_at(address)) {
      const std::uint64_t left = memory->end - reinterpret_cast<std::uint64_t>(address);
      return device_.bytes_at(address, left, "use");
    }
    return const_cast<void*>(address);
  }

  bool may_use(const MemoryUse& use) override {
    const bool is_there = each_run(use, [&](const void* address, std::uint64_t bytes) {
      const simulated::Allocation* const memory = device_.allocation_at(address);
      const auto begin = reinterpret_cast<std::uint64_t>(address);
      if (memory != nullptr && bytes <= memory->end - begin) return true;
      leaves_memory(use, memory, begin, bytes);
      return false;
    });
    if (is_there) {
      each_run(use, [&](const void* address, std::uint64_t bytes) {
        if (use.reads) machine_.touches(address, bytes, false);
        if (use.writes) machine_.touches(address, bytes, true);
        return true;
      });
    }
    const bool looks = machine_.settings.checkers.initialization && use.reads;
    if (is_there && looks) find_unwritten(use);
    if (use.writes) written_.push_back(use);
    return is_there;
  }

  /// Notes the writes of the work that was done. Where it was not, as memory was not there, the finding says so, and
  /// the bytes that it would have left are not reported a second time.
  void note_writes() {
    for (const MemoryUse& use : written_) {
      each_run(use, [&](const void* address, std::uint64_t bytes) {
        if (const simulated::Allocation* const memory = device_.allocation_at(address)) {
          machine_.wrote(const_cast<void*>(address),
                         std::min(bytes, memory->end - reinterpret_cast<std::uint64_t>(address)));
        }
        return true;
      });
    }
  }

 private:
  std::string access(const MemoryUse& use, std::uint64_t bytes, std::uint64_t address) const {
    return fmt::format("{} {} {} bytes of {} at 0x{:x}", enqueued_.call, use.reads ? "reads" : "writes", bytes,
                       use.name, address);
  }

  void leaves_memory(const MemoryUse& use, const simulated::Allocation* memory, std::uint64_t begin,
                     std::uint64_t bytes) {
    simulated::Finding finding;
    finding.checker = Checker::memory;
    finding.space = "global";
    finding.count = 1;
    finding.address = memory == nullptr ? begin : memory->end;
    std::string where;
    if (memory != nullptr) {
      finding.allocation = memory->label;
      where = fmt::format("which end {} bytes past the end of '{}' ({} bytes)", bytes - (memory->end - begin),
                          memory->label, memory->end - memory->begin);
    } else {
      where = device_.place_of(moved(nullptr, begin), finding.allocation);
    }
    finding.problem = fmt::format("{}, {}", access(use, bytes, begin), where);
    if (!machine_.settings.checkers.any()) {
      machine_.lose(kIllegalAddress, finding.problem);
      throw Failure(kIllegalAddress, finding.problem);
    }
    if (machine_.settings.checkers.memory) machine_.report.found({finding}, calling_places());
  }

  void find_unwritten(const MemoryUse& use) {
    simulated::UnwrittenBytes unwritten;
    const void* first = nullptr;  // the address of the run that has the first of them
    each_run(use, [&](const void* address, std::uint64_t bytes) {
      device_.look_for_unwritten(unwritten, address, bytes);
      if (first == nullptr && unwritten.count > 0) first = address;
      return true;
    });
    if (first == nullptr) return;
    const simulated::Allocation* const memory = device_.allocation_at(first);
    simulated::Finding finding;
    finding.allocation = memory->label;
    finding.address = unwritten.first;
    finding.problem = fmt::format("{} reads {}, of which nothing has written byte {} of '{}'", enqueued_.call, use.name,
                                  unwritten.first - memory->begin, memory->label);
    finding.checker = Checker::initialization;
    finding.space = "global";
    finding.count = 1;
    machine_.report.found({finding}, calling_places());
  }

  Machine& machine_;
  simulated::SimulatedDevice& device_;
  const EnqueuedLibraryWork& enqueued_;
  std::vector<MemoryUse> written_;
};

}  // namespace

void carry_out(Machine& machine, const EnqueuedLibraryWork& enqueued, int stream) {
  machine.timeline.host_works(machine.timeline.costs().launch);
  const auto begin = std::chrono::steady_clock::now();
  machine.begin_work(enqueued.call, stream);
  Turn turn(machine, enqueued);
  bool all_there = true;
  for (const MemoryUse& use : enqueued.work.uses) all_there = turn.may_use(use) && all_there;
  if (all_there) enqueued.work.compute(turn);
  turn.note_writes();
  machine.report.simulated_for(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  const Range ns = predict_work(machine.gpu(), enqueued.work.amount);
  const auto predicted = static_cast<Nanoseconds>(std::sqrt(ns.low * ns.high));
  const Timeline::Span span = machine.timeline.enqueue(stream, Engine::kernels, predicted);
  machine.trace.add(enqueued.call, stream, span);
  if (all_there) machine.report.computed(enqueued.library, enqueued.call, predicted);
}

}  // namespace convladder::stand_in
