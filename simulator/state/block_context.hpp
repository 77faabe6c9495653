// The state that the warps of a block share while they run, and the results that a launch collects.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/access_observer.hpp"
#include "simulator/state/asynchronous_copy.hpp"
#include "simulator/state/bulk_copies.hpp"
#include "simulator/state/finding_log.hpp"
#include "simulator/state/lane_pattern.hpp"
#include "simulator/state/program.hpp"
#include "simulator/state/schedule.hpp"

namespace convladder::simulated {

class L1Cache;
struct Cluster;
class TextureTable;
struct DeviceRuntime;

/// The work of one instruction of a kernel, summed over all warps. Exact, and the same for every number of host
/// threads.
struct InstructionCounters {
  std::uint64_t warps = 0;               ///< executions by a warp with at least one active lane
  std::uint64_t lanes = 0;               ///< active lanes in them (predicated-off lanes excluded)
  std::uint64_t divergent_branches = 0;  ///< for a branch: executions in which its lanes part
  std::uint64_t requests = 0;            ///< for a memory access: executions that reach memory
  std::uint64_t sectors = 0;             ///< for a global access: 32-byte sectors touched, summed over requests
  std::uint64_t wavefronts = 0;          ///< for a shared access: passes that its bank conflicts need
  std::uint64_t ideal_wavefronts = 0;    ///< for a shared access: passes without any conflict
  std::uint64_t bytes = 0;               ///< for a memory access: bytes that its lanes ask for

  InstructionCounters& operator+=(const InstructionCounters& other);
  InstructionCounters& operator*=(std::uint64_t times);
};

/// A kernel did something for which hardware would end it. The message is one line: what, which kernel, PTX line and
/// source line, block, thread, address and allocation.
struct KernelFault : std::runtime_error {
  using std::runtime_error::runtime_error;
  explicit KernelFault(const Finding& found) : std::runtime_error(to_text(found)), finding(found) {}
  Finding finding;       ///< without a problem where the fault has no place
  std::string asserted;  ///< of all threads: see RunTotals
};

/// The allocation that an instruction touched last, where its accesses tend to stay.
struct CachedRange {
  std::uint64_t begin = 1;
  std::uint64_t end = 0;
};

/// A copy that is under way and will arrive at an mbarrier.
struct PendingArrival {
  std::uint64_t mbarrier = 0;  ///< offset in shared memory
  std::function<void()> land;  ///< carries it out
};

/// The results of the blocks that one host thread runs.
struct RunTotals {
  explicit RunTotals(const Program& program)
      : counters(program.kernel->instructions.size()),
        ranges(program.kernel->instructions.size()),
        known_patterns(program.kernel->instructions.size(), patterns.nothing()),
        block_warps(program.blocks.size()),
        block_lanes(program.blocks.size()) {}
  RunTotals(const RunTotals&) = delete;  // not copyable: known patterns point into it
  RunTotals& operator=(const RunTotals&) = delete;

  std::vector<InstructionCounters> counters;  ///< by instruction, without those counted with their basic block
  std::vector<CachedRange> ranges;            ///< by instruction
  LanePatterns patterns;
  std::vector<KnownPattern> known_patterns;        ///< by instruction
  std::vector<KnownPattern> patterns_in_lockstep;  ///< by instruction and warp of a block, for warps in lockstep
  std::vector<std::uint64_t> block_warps;          ///< by basic block: entries by a warp
  std::vector<std::uint64_t> block_lanes;
  std::uint64_t memory_changes = 0;             ///< counts changes of memory other than stores: see SpinWatch
  std::uint64_t looked_at_changes = 0;          ///< of memory, at the last look at limits
  std::uint64_t operations_without_change = 0;  ///< by warps, since memory was last found changed
  std::string printed;                          ///< output of printf in kernels
  std::string asserted;  ///< a line as the driver writes it for each thread whose assertion fails
};

class BlockContext {
 public:
  static constexpr int kMostWarps = 32;

  explicit BlockContext(RunTotals& totals)
      : counters(totals.counters),
        ranges(totals.ranges),
        patterns(totals.patterns),
        known_patterns(totals.known_patterns),
        patterns_in_lockstep(totals.patterns_in_lockstep),
        memory_changes(totals.memory_changes),
        printed(totals.printed),
        asserted(totals.asserted) {}

  const Program* program = nullptr;
  DeviceMemory* memory = nullptr;
  const TextureTable* textures = nullptr;  ///< none: there are no textures and no surfaces
  DeviceRuntime* runtime = nullptr;        ///< what kernels ask the device for
  Dim3 block_size;
  Dim3 block_index;
  std::uint64_t block_number = 0;    ///< in the order of blocks of the launch
  const Cluster* cluster = nullptr;  ///< none: the block is alone in its cluster
  unsigned rank = 0;                 ///< the block's rank in its cluster
  std::uint64_t shared_begin = 0;    ///< the address of its first byte of shared memory: its rank above kRankShift
  bool has_ended = true;
  std::vector<std::byte> shared;
  std::vector<std::byte> local;  ///< [warp][lane][local_bytes]
  const std::byte* parameters = nullptr;
  std::span<InstructionCounters> counters;  ///< this and the next seven members are as in RunTotals
  std::span<CachedRange> ranges;
  LanePatterns& patterns;
  std::span<KnownPattern> known_patterns;
  std::vector<KnownPattern>& patterns_in_lockstep;
  std::uint64_t& memory_changes;
  std::string& printed;
  std::string& asserted;
  std::vector<PendingCopies> copies;     ///< by warp
  std::vector<PendingArrival> arrivals;  ///< in the order in which they began
  BulkGroups bulk_groups;                ///< pending copies to global memory
  std::uint64_t bulk_copies = 0;         ///< number of copies that have begun
  RepeatedCopies repeated_copies;
  bool waits_in_vain = false;  ///< whether a wait was unsuccessful
  std::vector<AccessObserver*> observers;
  L1Cache* l1 = nullptr;           ///< of the block's multiprocessor; none: traffic below it is not counted
  FindingLog* findings = nullptr;  ///< none: the first fault ends the launch
  Schedule* schedule = nullptr;    ///< none: the usual order
  bool is_counted = true;          ///< otherwise only the requests of instructions have to be right: see SpinWatch

  /// Whether floating-point sums of atomics are sums of bits: see Schedule.
  bool adds_bits() const { return schedule != nullptr && schedule->adds_bits(); }

  /// Describes an event at an operation for a lane, for a message: places and names, no address.
  Finding finding_at(const WarpState& warp, const Operation& operation, int lane, Checker checker,
                     std::string problem) const;

  /// Reports a fault: as a finding of the checker, or, if findings are not collected, as a KernelFault. `kind`
  /// distinguishes faults of different kinds of one instruction; `lanes` are the lanes with the fault; `describe(lane)`
  /// makes the finding.
  template <typename Describe>
  void fault(const WarpState& warp, const Operation& operation, Checker checker, int kind, LaneMask lanes,
             const Describe& describe) const {
    const int first = std::countr_zero(lanes);
    if (findings == nullptr) throw KernelFault(describe(first));
    findings->add({checker, operation.instruction, kind}, block_number,
                  static_cast<std::uint64_t>(std::popcount(lanes)), [&] { return describe(first); });
    static_cast<void>(warp);
  }
};

/// A finding of memcheck at an instruction, of which no more is known than its place in the text.
Finding finding_of(const Program& program, int instruction);

}  // namespace convladder::simulated
