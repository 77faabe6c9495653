#include "simulator/execution/block_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>

#include <utility>
#include "simulator/execution/grid_shape.hpp"
#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/instructions/provided_functions.hpp"

namespace convladder::simulated {
namespace {

constexpr std::size_t kAlignment = 64;

constexpr std::uint32_t kRoundsPerLook = 1024;  // of the warps of a block that waits for no other

constexpr int kTrapped = 100;  // a kind of fault in addition to those of accesses

std::byte* aligned(std::vector<std::byte>& bytes) {
  void* at = bytes.data();
  std::size_t space = bytes.size();
  return static_cast<std::byte*>(std::align(kAlignment, 1, at, space));
}

LaneMask guard_mask(const WarpState& state, const Operation& operation, LaneMask active) {
  const LaneMask guard = *state.read<LaneMask>(operation.guard);
  return active & (operation.guard_negated ? ~guard : guard);
}

std::size_t warps_of(std::uint64_t threads) {
  if (threads == 0 || threads > kLanes * BlockBarriers::kMostWarps) {
    throw std::invalid_argument(fmt::format("a block of {} threads; 1 to 1024 are possible", threads));
  }
  return (threads + kLanes - 1) / kLanes;
}

bool writes_memory(const ptx::Instruction& instruction) {
  return instruction.opcode.starts_with("st.") || instruction.opcode.starts_with("stmatrix.") ||
         instruction.opcode.starts_with("wmma.store");
}

/// Whether no other block sees what the instruction writes. In a cluster others may look into shared memory.
bool is_for_block(const ptx::Instruction& instruction, bool in_cluster) {
  const std::vector<std::string_view> parts = ptx::split_opcode(instruction.opcode);
  return std::ranges::any_of(parts, [in_cluster](std::string_view part) {
    return part == "local" || (!in_cluster && (part == "shared" || part == "shared::cta"));
  });
}

}  // namespace

BlockRunner::BlockRunner(const Program& program, DeviceMemory& memory, const LaunchConfiguration& configuration,
                         RunningLaunch& launch, RunTotals& totals)
    : program_(program),
      configuration_(configuration),
      threads_(configuration.block.count()),
      warps_(warps_of(threads_)),
      constants_(program.constants),
      registers_(program.calls_functions()
                     ? 0
                     : static_cast<std::size_t>(program.register_bytes) * warps_.size() + kAlignment),
      context_(totals),
      launch_(launch),
      limits_(configuration.limits, launch, totals),
      block_warps_(totals.block_warps),
      block_lanes_(totals.block_lanes) {
  context_.program = &program;
  context_.memory = &memory;
  context_.textures = configuration.textures;
  context_.runtime = configuration.runtime;
  context_.is_counted = configuration.is_counted;
  context_.schedule = configuration.schedule;
  context_.block_size = configuration.block;
  context_.shared.resize(std::size_t{program.static_shared_bytes} + configuration.dynamic_shared_bytes);
  context_.local.resize(std::size_t{program.local_bytes} * kLanes * warps_.size());
  context_.parameters = configuration.parameters.data();
  context_.copies.resize(warps_.size());
  prepare_warps();
  fill_constants(program.special.block_size, configuration.block);
  fill_constants(program.special.grid_size, configuration.grid);
  fill_constant(program.special.multiprocessors, static_cast<std::uint32_t>(configuration.gpu->multiprocessors));
  fill_constant(program.special.most_warps, static_cast<std::uint32_t>(configuration.gpu->warps_per_multiprocessor));
  fill_constant(program.special.dynamic_shared_bytes, configuration.dynamic_shared_bytes);
  fill_constant(program.special.total_shared_bytes, static_cast<std::uint32_t>(context_.shared.size()));
  fill_constants(program.special.cluster_size, {});
  fill_constant(program.special.cluster_blocks, 1);
  const Dim3& cluster = configuration.cluster;
  fill_constants(program.special.clusters, {configuration.grid.x / cluster.x, configuration.grid.y / cluster.y,
                                            configuration.grid.z / cluster.z});
  fill_constant(program.special.is_explicit_cluster, configuration.is_explicit_cluster ? ~0U : 0);
  fill_constant(program.special.workspace[0], static_cast<std::uint32_t>(configuration.grid_workspace));
  fill_constant(program.special.workspace[1], static_cast<std::uint32_t>(configuration.grid_workspace >> 32));
  for (std::size_t i = 0; i < program.kernel->instructions.size(); ++i) {
    const ptx::Instruction& instruction = program.kernel->instructions[i];
    if (!writes_memory(instruction)) continue;
    const bool for_block = is_for_block(instruction, configuration.cluster.count() > 1);
    storing_instructions_.insert(for_block ? storing_instructions_.begin() : storing_instructions_.end(),
                                 static_cast<int>(i));
    stores_for_block_ += for_block ? 1 : 0;
  }
}

void BlockRunner::set_cluster(const Cluster* cluster, unsigned rank) {
  context_.cluster = cluster;
  context_.rank = rank;
  fill_constants(program_.special.cluster_size, cluster->size);
  fill_constant(program_.special.cluster_blocks, static_cast<std::uint32_t>(cluster->size.count()));
  fill_constant(program_.special.rank, rank);
  fill_constants(program_.special.place_in_cluster, GridShape::place_in(cluster->size, rank));
  context_.shared_begin = cluster_address(rank, 0);
  for (const Program::SharedAddress& address : program_.shared_addresses) {
    const std::uint64_t value = address.value + context_.shared_begin;
    if (address.bits == 32) {
      fill_constant(address.slot, static_cast<std::uint32_t>(value));
    } else {
      auto* const lanes = reinterpret_cast<std::uint64_t*>(constants_.data() + address.slot.offset());
      std::fill(lanes, lanes + kLanes, value);
    }
  }
}

void BlockRunner::begin(const Dim3& block, std::uint64_t number, std::uint64_t multiprocessor) {
  context_.block_index = block;
  context_.block_number = number;
  fill_constants(program_.special.block_index, context_.block_index);
  const Dim3 size = context_.cluster == nullptr ? Dim3{} : context_.cluster->size;
  fill_constants(program_.special.cluster_index, {block.x / size.x, block.y / size.y, block.z / size.z});
  fill_constant(program_.special.multiprocessor, static_cast<std::uint32_t>(multiprocessor));
  std::ranges::fill(context_.shared, std::byte{0});
  for (PendingCopies& copies : context_.copies) copies.clear();
  context_.arrivals.clear();
  context_.bulk_groups.clear();
  barriers_.begin_block(static_cast<int>(warps_.size()));
  for (Warp& warp : warps_) {
    warp.state.live = first_lanes(warp.state.index);
    warp.state.passed_by = 0;
    warp.paths.begin(static_cast<int>(program_.operations.size()), warp.state.live);
    warp.status = WarpStatus::running;
    if (program_.calls_functions()) {
      warp.frames.begin(program_);
      warp.state.bases[0] = warp.frames.base(0);
    }
    for (const auto& [offset, bytes] : program_.zeroed) std::memset(warp.state.bases[0] + offset, 0, bytes);
    warp.executed = 0;
    warp.spin.forget();
    warp.waits_at = nullptr;
    warp.waiting_too.clear();
    warp.arrived_at_cluster = false;
    warp.is_interrupted = false;
  }
  context_.has_ended = false;
  has_trapped_ = false;
  waits_since_.reset();
  for (AccessObserver* const observer : context_.observers) observer->block_begins(context_);
  stop(limits_.begin_block(number, memory_changes()));
}

BlockProgress BlockRunner::go_on(const BlockPatience& patience) {
  waits_since_.reset();
  over_rounds_.forget();
  patience_ = {changes_for_others(), executed(), executed(), executed()};
  if (chooses(context_.schedule)) return go_on_by(*context_.schedule, patience);
  // Warps take turns from barrier to barrier, in order, so that the interleaving is the same in every run.
  for (bool any = true; any;) {
    any = false;
    if (can_run_in_lockstep()) run_in_lockstep();
    for (Warp& warp : warps_) {
      if (warp.status != WarpStatus::running) continue;
      any = true;
      run_turn(warp);
    }
    if (has_trapped_) break;
    if (all_wait()) {
      if (release_met()) continue;
      waits_since_ = changes_for_others();
      return BlockProgress::waits;
    }
    if (patience.operations == kRunsToItsEnd.operations && ++rounds_ % kRoundsPerLook != 0) continue;
    if (const auto progress = look_at_patience(patience)) return *progress;
  }
  return progress_of_last_turns();
}

/// The progress of a block in which no warp can run.
BlockProgress BlockRunner::progress_of_last_turns() {
  if (any_at_cluster_barrier() && !has_trapped_) {
    waits_since_ = changes_for_others();
    return BlockProgress::waits;
  }
  if (!has_trapped_ &&
      std::ranges::any_of(warps_, [](const Warp& warp) { return warp.status == WarpStatus::at_barrier; })) {
    report_deadlock("");
  }
  end();
  return BlockProgress::ended;
}

void BlockRunner::end() {
  context_.bulk_groups.land_all();
  context_.has_ended = true;
  stop(limits_.end_block(executed()));
}

std::vector<InstructionCounters> counters_of(const Program& program, const RunTotals& totals) {
  std::vector<InstructionCounters> result = totals.counters;
  for (std::size_t i = 0; i < result.size(); ++i) add_uses(totals.known_patterns[i], result[i]);
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    int previous = -1;
    for (int i = program.blocks[b].first; i < program.blocks[b].end; ++i) {
      const Operation& operation = program.operations[i];
      if (operation.instruction == previous) continue;  // one instruction may take several operations
      previous = operation.instruction;
      if (operation.guarded && operation.kind != OperationKind::branch) continue;  // counted one by one
      result[operation.instruction].warps += totals.block_warps[b];
      result[operation.instruction].lanes += totals.block_lanes[b];
    }
  }
  return result;
}

LaneMask BlockRunner::first_lanes(int warp) const {
  const std::uint64_t left = threads_ - static_cast<std::uint64_t>(warp) * kLanes;
  return left >= kLanes ? kAllLanes : (LaneMask{1} << left) - 1;
}

void BlockRunner::prepare_warps() {
  const Dim3& size = configuration_.block;
  std::byte* registers = aligned(registers_);
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    WarpState& state = warps_[w].state;
    if (program_.calls_functions()) {
      warps_[w].frames.begin(program_);
      state.bases[0] = warps_[w].frames.base(0);
    } else {
      state.bases[0] = registers;
      registers += program_.register_bytes;
    }
    state.bases[1] = constants_.data();
    state.block = &context_;
    state.index = static_cast<int>(w);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const auto thread = static_cast<unsigned>(w) * kLanes + lane;
      state.write<std::uint32_t>(program_.special.thread_index[0])[lane] = thread % size.x;
      state.write<std::uint32_t>(program_.special.thread_index[1])[lane] = thread / size.x % size.y;
      state.write<std::uint32_t>(program_.special.thread_index[2])[lane] = thread / size.x / size.y;
      state.write<std::uint32_t>(program_.special.lane_index)[lane] = lane;
      state.write<std::uint32_t>(program_.special.warp_index)[lane] = static_cast<std::uint32_t>(w);
    }
  }
}

void BlockRunner::fill_constant(Slot slot, std::uint32_t value) {
  auto* const lanes = reinterpret_cast<std::uint32_t*>(constants_.data() + slot.offset());
  std::fill(lanes, lanes + kLanes, value);
}

void BlockRunner::fill_constants(const std::array<Slot, 3>& slots, const Dim3& value) {
  fill_constant(slots[0], value.x);
  fill_constant(slots[1], value.y);
  fill_constant(slots[2], value.z);
}

void BlockRunner::run_turn(Warp& warp) {
  const bool calls_functions = program_.calls_functions();
  for (bool goes_on = true; goes_on;) {
    warp.paths.drop_finished();
    if (warp.paths.empty()) {
      warp.status = WarpStatus::done;
      barriers_.exit_warp(warp.state.index);
      for (std::uint32_t barrier = 0; barrier <= BlockBarriers::kOfCluster; ++barrier) complete_barrier(barrier);
      return;
    }
    if (warp.paths.current().state == PathState::waits) {
      schedule(warp);
      goes_on = warp.status == WarpStatus::running;
      continue;
    }
    if (calls_functions) warp.state.bases[0] = warp.frames.base(warp.paths.current().frame);
    goes_on = run_path(warp);
  }
}

/// Continues the current path as long as its lanes stay together, up to where they meet others. Returns whether the
/// warp's turn continues.
bool BlockRunner::run_path(Warp& warp, int stop) {
  Path& path = warp.paths.current();
  const LaneMask active = path.mask;
  const auto lanes = static_cast<std::uint64_t>(std::popcount(active));
  const Operation* const operations = program_.operations.data();
  bool is_counted = path.state != PathState::runs;  // otherwise it stands where it waited, and was counted before
  for (int at = path.next; at != path.reconvergence && at != stop;) {
    const int index = program_.block_of_operation[at];
    const ProgramBlock& block = program_.blocks[index];
    if (at == block.first && !is_counted) {
      ++block_warps_[index];
      block_lanes_[index] += lanes;
    }
    is_counted = false;
    const int first = at;
    at = context_.schedule == nullptr ? run_plain(warp.state, active, at, block.end)
                                      : run_plain_by_schedule(warp, active, at, block.end);
    warp.executed += static_cast<std::uint64_t>(at - first);
    path.next = at;
    if (at == block.end) continue;
    if (operations[at].kind == OperationKind::plain) {  // interrupted
      // The paths' earlier states say no more whether they repeat themselves.
      if (context_.schedule->takes_other_path() && warp.paths.run_another()) warp.spin.forget();
      return false;
    }
    ++warp.executed;
    const Operation& operation = operations[at];
    if (operation.kind != OperationKind::branch) return execute_special(warp, operation, at, block);
    const LaneMask taken = operation.guarded ? guard_mask(warp.state, operation, active) : active;
    if (taken != 0 && taken != active) return branch(warp, operation, at, block, taken);
    path.next = taken == 0 ? at + 1 : operation.target;
    if (path.next <= at && !loops(warp, operation, taken)) return false;
    at = path.next;
  }
  return true;
}

/// Carries out the plain operations from `at` on, before `end`. Returns where they end.
int BlockRunner::run_plain(WarpState& state, LaneMask active, int at, int end) {
  const Operation* const operations = program_.operations.data();
  state.mask = active;
  for (; at < end && operations[at].kind == OperationKind::plain; ++at) {
    const Operation& operation = operations[at];
    if (!operation.guarded) [[likely]] {
      operation.handler(state, operation);
      continue;
    }
    state.mask = guard_mask(state, operation, active);
    if (state.mask != 0) {
      count_guarded(operation, state.mask, at);
      operation.handler(state, operation);
    }
    state.mask = active;
  }
  return at;
}

void BlockRunner::count_guarded(const Operation& operation, LaneMask mask, int at) {
  if (at > 0 && program_.operations[at - 1].instruction == operation.instruction) return;
  InstructionCounters& counters = context_.counters[operation.instruction];
  ++counters.warps;
  counters.lanes += static_cast<std::uint64_t>(std::popcount(mask));
}

bool BlockRunner::execute_special(Warp& warp, const Operation& operation, int at, const ProgramBlock& block) {
  Path& path = warp.paths.current();
  const LaneMask lanes = operation.guarded ? guard_mask(warp.state, operation, path.mask) : path.mask;
  path.next = at + 1;
  if (lanes == 0) return true;
  if (has_to_wait(warp, operation, at, lanes)) return true;
  path.state = PathState::runs;
  if (operation.guarded) count_guarded(operation, lanes, at);
  warp.state.mask = lanes;
  switch (operation.kind) {
    case OperationKind::barrier: {
      const bool goes_on = arrive(warp, operation, lanes);
      if (!warp.paths.any_waits()) warp.state.passed_by = 0;
      return goes_on;
    }
    case OperationKind::meeting:
      warp.state.elsewhere = std::exchange(path.elsewhere, 0);
      operation.handler(warp.state, operation);
      for (AccessObserver* const observer : context_.observers) {
        observer->lanes_met(warp.state, lanes | warp.state.elsewhere);
      }
      if (!warp.paths.any_waits()) warp.state.passed_by = 0;
      return true;
    case OperationKind::call:
      call(warp, operation, lanes);
      return true;
    case OperationKind::return_:
      leave_function(warp, lanes);
      return true;
    case OperationKind::table_branch:
      return table_branch(warp, operation, at, lanes, block);
    case OperationKind::trap:
      if (operation.detail != Operation::kNoAssertion) write_assertion(warp.state, operation);
      context_.fault(warp.state, operation, Checker::memory, kTrapped, lanes, [&](int lane) {
        return context_.finding_at(warp.state, operation, lane, Checker::memory,
                                   operation.detail == Operation::kNoAssertion
                                       ? "a trap was executed"
                                       : assertion_text(warp.state, operation, lane));
      });
      exit_lanes(warp, warp.state.live);
      has_trapped_ = launch_.has_trapped = true;
      return true;
    case OperationKind::read_clock: {
      const KernelClocks& clocks = configuration_.clocks;
      const bool counts_ns = operation.offset != 0;
      const std::uint64_t elapsed =
          counts_ns ? static_cast<std::uint64_t>(static_cast<double>(warp.executed) * clocks.ns_of_cycle)
                    : warp.executed;
      const std::uint64_t value = ((counts_ns ? clocks.ns : clocks.cycles) + elapsed) >> operation.detail;
      const auto same = [value](int /*lane*/) { return value; };
      if (operation.vector_elements == 2) {
        write_lanes(warp.state.write<std::uint64_t>(operation.operands[0]), lanes, same);
      } else {
        write_lanes(warp.state.write<std::uint32_t>(operation.operands[0]), lanes,
                    [value](int /*lane*/) { return static_cast<std::uint32_t>(value); });
      }
      return true;
    }
    default:
      exit_lanes(warp, lanes);
      return true;
  }
}

/// The lanes part: `taken` of them jump.
bool BlockRunner::branch(Warp& warp, const Operation& operation, int at, const ProgramBlock& block, LaneMask taken) {
  ++context_.counters[operation.instruction].divergent_branches;
  part(warp, at, operation.target, taken, block);
  return operation.target > at || loops(warp, operation, taken);
}

/// Handles a backward jump of lanes. Returns whether the warp's turn continues.
bool BlockRunner::loops(Warp& warp, const Operation& operation, LaneMask lanes) {
  if (limits_.loops(warp.executed)) look_at_limits(warp, operation, lanes);
  const bool waits_in_vain = std::exchange(context_.waits_in_vain, false);  // others may bring what it waits for
  if (!warp.spin.branch_backwards() && !waits_in_vain) return true;
  const std::span<const std::byte> registers(warp.state.bases[0], program_.register_bytes);
  const SpinWatch::State now{.registers = program_.calls_functions() ? warp.frames.content() : registers,
                             .place = std::as_bytes(warp.paths.all()),
                             .memory_changes = memory_changes()};
  if (!warp.spin.turn_ends(now, waits_in_vain)) return true;
  warp.waits_at = &operation;
  warp.paths.run_another();  // it may wait for the work of another path
  return false;
}

int BlockRunner::round_at(int operation) const {
  const int block = program_.block_of_operation[operation];
  return block == static_cast<int>(program_.blocks.size()) ? std::numeric_limits<int>::max()
                                                           : program_.blocks[block].round;
}

/// Splits the current path. Lanes that only return from here exit at once, because a barrier for the others may follow
/// the branch. Jumps on their way are counted; their return is counted with that of the warp's last lanes, as an exit
/// in place of the branch is.
void BlockRunner::part(Warp& warp, int at, int target, LaneMask taken, const ProgramBlock& block) {
  Path& path = warp.paths.current();
  const LaneMask others = path.mask & ~taken;
  const auto returns = [this](int operation) {
    return program_.blocks[program_.block_of_operation[operation]].returns;
  };
  if (!returns(target) && !returns(at + 1)) {
    const int round_of_target = round_at(target);
    const int round_behind = round_at(at + 1);
    if (round_of_target == block.round && round_behind == block.round) {
      return warp.paths.part(at, block.reconvergence, target, taken);
    }
    const auto comes_to = [this](int round) {
      return [this, round](int operation) { return round_at(operation) >= round; };
    };
    if (round_behind == block.round) return warp.paths.part_aside(at + 1, others, target, comes_to(round_of_target));
    return warp.paths.part_aside(target, taken, at + 1, comes_to(round_behind));
  }
  const bool taken_return = returns(target);
  const LaneMask leaving = taken_return ? taken : others;
  for (int way = taken_return ? target : at + 1;;) {
    const int left = program_.block_of_operation[way];
    block_lanes_[left] += static_cast<std::uint64_t>(std::popcount(leaving));
    const Operation& operation = program_.operations[way];
    if (operation.kind != OperationKind::branch) break;
    ++block_warps_[left];
    way = operation.target;
  }
  path.next = taken_return ? at + 1 : target;
  if (path.frame != 0) return leave_function(warp, leaving);
  exit_lanes(warp, leaving);
}

void BlockRunner::exit_lanes(Warp& warp, LaneMask leaving) {
  warp.paths.exit(leaving);
  warp.state.live &= ~leaving;
}

}  // namespace convladder::simulated
