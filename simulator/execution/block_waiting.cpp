// Places where the warps of a block wait for each other: barriers, loops that wait for a write, and deadlocks.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <type_traits>

#include "simulator/execution/block_runner.hpp"

namespace convladder::simulated {
namespace {

/// The kinds of faults of one instruction.
enum Fault {
  kDivergent,
  kNotUniform,
  kBadBarrier,
  kBadThreads,
  kOtherThreads,
  kDeadlock,
  kSpinning,
  kOutOfTurn,
  kPartOfBlock
};

constexpr std::size_t kAlignmentOfSlots = 64;

constexpr std::uint64_t kOperationsPerLook = 4096;  // of a block that may wait for others

std::string threads_text(std::uint32_t threads) {
  return threads == 0 ? "all threads of the block" : fmt::format("{} threads", threads);
}

/// Whether a value is the same in all lanes of the mask.
bool is_uniform(const std::uint32_t* values, LaneMask lanes) {
  const std::uint32_t first = values[std::countr_zero(lanes)];
  LaneMask other = 0;
  for (int lane = 0; lane < kLanes; ++lane) other |= LaneMask{values[lane] != first} << lane;
  return (other & lanes) == 0;
}

}  // namespace

void BlockRunner::synchronization_fault(const Warp& warp, const Operation& operation, int kind, LaneMask lanes,
                                        const std::string& problem) const {
  context_.fault(warp.state, operation, Checker::synchronization, kind, lanes, [&](int lane) {
    return context_.finding_at(warp.state, operation, lane, Checker::synchronization, problem);
  });
}

// --- lanes of a warp ------------------------------------------------------------------------------------------------

/// The lanes that have to arrive where these are before the operation is carried out.
LaneMask BlockRunner::awaited(const WarpState& state, const Operation& operation, LaneMask lanes) const {
  if (operation.kind == OperationKind::barrier || operation.members() == Operation::kAllLive) return state.live;
  const auto* const masks = state.read<LaneMask>(operation.operands[operation.members()]);
  LaneMask named = 0;
  for (int lane = 0; lane < kLanes; ++lane) named |= ((lanes >> lane) & 1U) != 0 ? masks[lane] : 0;
  return named & state.live;
}

/// The state of a warp as the operations of a path see it.
WarpState BlockRunner::state_in(const Warp& warp, const Path& path) const {
  WarpState state = warp.state;
  if (program_.calls_functions()) state.bases[0] = const_cast<std::byte*>(warp.frames.base(path.frame));
  return state;
}

/// Whether the lanes have to wait for others, which run meanwhile.
bool BlockRunner::has_to_wait(Warp& warp, const Operation& operation, int at, LaneMask lanes) {
  const bool meets = operation.kind == OperationKind::barrier || operation.kind == OperationKind::meeting;
  if (!meets || warp.paths.current().state == PathState::goes_on) return false;
  if ((awaited(warp.state, operation, lanes) & ~lanes) == 0) return false;
  // The others go on: the rest of the block was counted for one path, and there are two.
  if (lanes != warp.paths.current().mask) count_again(at + 1, program_.blocks[program_.block_of_operation[at]].end, 1);
  warp.paths.wait(at, lanes);
  return true;
}

/// Counts operations again: they are counted with their block for every path that enters it, but executed by more paths
/// or fewer.
void BlockRunner::count_again(int from, int end, int times) {
  int previous = -1;
  for (int i = from; i < end; ++i) {
    const Operation& operation = program_.operations[i];
    if (operation.instruction == previous) continue;
    previous = operation.instruction;
    if (operation.guarded && operation.kind != OperationKind::branch) continue;  // counted one by one
    context_.counters[operation.instruction].warps += static_cast<std::uint64_t>(times);
  }
}

WarpState BlockRunner::state_at(const Warp& warp, const Standing& place) const {
  WarpState state = warp.state;
  if (program_.calls_functions()) state.bases[0] = const_cast<std::byte*>(warp.frames.base(place.frame));
  state.mask = place.lanes;
  return state;
}

/// Whether any lane of one path names the same lanes as one of the other.
bool BlockRunner::name_the_same(const Warp& warp, const Path& one, const Path& other) const {
  const auto masks_of = [&](const Path& path) {
    const Operation& operation = program_.operations[path.next];
    return state_in(warp, path).read<LaneMask>(operation.operands[operation.members()]);
  };
  const LaneMask* const masks = masks_of(one);
  const LaneMask* const others = masks_of(other);
  for (LaneMask left = one.mask; left != 0; left &= left - 1) {
    for (LaneMask too = other.mask; too != 0; too &= too - 1) {
      if (masks[std::countr_zero(left)] == others[std::countr_zero(too)]) return true;
    }
  }
  return false;
}

/// Whether two paths wait at instructions of the same barrier, which lanes may reach by different ways.
bool BlockRunner::meet_at_barrier(const Warp& warp, const Path& one, const Path& other) const {
  const Operation& a = program_.operations[one.next];
  const Operation& b = program_.operations[other.next];
  if (a.target != Operation::kEachThread || b.target != Operation::kEachThread) return false;
  if (a.detail != b.detail || a.offset != b.offset || a.vector_elements != b.vector_elements) return false;
  const auto number = [&](const Path& path, const Operation& barrier, int operand) {
    return state_in(warp, path).read<std::uint32_t>(barrier.operands[operand])[std::countr_zero(path.mask)];
  };
  return number(one, a, 0) == number(other, b, 0) && number(one, a, 1) == number(other, b, 1);
}

/// Whether the lanes of two waiting paths wait for each other: at the same operation, or at two that can be one (PTX
/// ISA 9.0, 9.7.13: since Volta lanes need not be at the same instruction).
bool BlockRunner::meet(const Warp& warp, const Path& one, const Path& other) const {
  if (other.next == one.next && other.frame == one.frame) return true;
  const Operation& a = program_.operations[one.next];
  const Operation& b = program_.operations[other.next];
  if (a.kind != b.kind) return false;
  if (a.kind == OperationKind::barrier) return meet_at_barrier(warp, one, other);
  if (a.detail != b.detail) return false;
  const auto opcode = [this](const Operation& operation) -> const std::string& {
    return program_.kernel->instructions[static_cast<std::size_t>(operation.instruction)].opcode;
  };
  const bool may = a.detail == Operation::kWarpBarrier || (a.detail == Operation::kExchange && opcode(a) == opcode(b));
  return may && name_the_same(warp, one, other);
}

/// The paths whose lanes meet where the path waits, itself among them.
std::vector<const Path*> BlockRunner::waiting_with(const Warp& warp, const Path& path) const {
  std::vector<const Path*> found{&path};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const Path& other : warp.paths.all()) {
      if (other.state != PathState::waits || other.mask == 0) continue;
      if (std::ranges::find(found, &other) == found.end() && meet(warp, *found[i], other)) found.push_back(&other);
    }
  }
  return found;
}

/// Lets waiting lanes go on if all the lanes that they wait for have arrived.
bool BlockRunner::go_on_where_all_are(Warp& warp) {
  for (const Path& path : warp.paths.all()) {
    if (path.state != PathState::waits || path.mask == 0) continue;
    LaneMask here = 0;
    LaneMask named = 0;
    for (const Path* const one : waiting_with(warp, path)) {
      here |= one->mask;
      named |= awaited(state_in(warp, *one), program_.operations[one->next], one->mask);
    }
    if ((named & ~here) != 0) continue;
    go_on(warp, path.next, path.frame, here);
    return true;
  }
  return false;
}

/// The given lanes that wait at the operation, and at others that are one with it, go on as a path for each operation.
void BlockRunner::go_on(Warp& warp, int at, int frame, LaneMask lanes) {
  std::vector<Standing> places;
  for (LaneMask left = lanes; left != 0;) {
    const int paths = warp.paths.go_on_together(at, frame);
    count_again(at, program_.blocks[program_.block_of_operation[at]].end, 1 - paths);
    Path& path = warp.paths.current();
    path.elsewhere = lanes & ~path.mask;
    places.push_back({at, frame, path.mask});
    left &= ~path.mask;
    for (const Path& other : warp.paths.all()) {
      if (other.state != PathState::waits || (other.mask & left) == 0) continue;
      at = other.next;
      frame = other.frame;
    }
  }
  if (places.size() == 1) return;
  const Operation& operation = program_.operations[places.front().at];
  if (operation.kind == OperationKind::barrier) {
    arrive_together(warp, places);
  } else if (operation.detail == Operation::kExchange) {
    exchange(warp, places);
  }
}

/// The path that stands at an operation which others have carried out for it goes on behind it.
void BlockRunner::go_behind(Warp& warp, const Standing& place) {
  const Operation& operation = program_.operations[place.at];
  if (operation.guarded) count_guarded(operation, place.lanes, place.at);
  ++warp.executed;
  warp.paths.go_behind(place.at, place.frame);
}

/// Carries out an exchange of lanes that stand at several instructions: once, with operands that hold the values of
/// all.
void BlockRunner::exchange(Warp& warp, std::span<const Standing> places) {
  constexpr std::uint32_t kSlotBytes = 8 * kLanes;
  constexpr int kOperands = std::extent_v<decltype(Operation::operands)>;
  alignas(kAlignmentOfSlots) std::array<std::byte, std::size_t{kSlotBytes} * kOperands> values{};
  Operation together = program_.operations[places.front().at];
  const ExchangeOperands kinds(together.offset);
  for (std::uint32_t i = 0; i < kOperands; ++i) together.operands[i] = Slot::in_registers(i * kSlotBytes);
  WarpState all = warp.state;
  all.bases[0] = values.data();
  all.mask = 0;
  all.elsewhere = 0;
  const auto move = [](int bits, const WarpState& from, Slot source, const WarpState& to, Slot destination,
                       LaneMask lanes) {
    if (bits == 1) {
      write_predicate(to.write<LaneMask>(destination), lanes, *from.read<LaneMask>(source));
    } else if (bits == 32) {
      const auto* const value = from.read<std::uint32_t>(source);
      write_lanes(to.write<std::uint32_t>(destination), lanes, [value](int lane) { return value[lane]; });
    } else if (bits == 64) {
      const auto* const value = from.read<std::uint64_t>(source);
      write_lanes(to.write<std::uint64_t>(destination), lanes, [value](int lane) { return value[lane]; });
    }
  };
  for (const Standing& place : places) {
    all.mask |= place.lanes;
    for (int i = 0; i < kOperands; ++i) {
      if (kinds.is_result(i)) continue;
      move(kinds.bits(i), state_at(warp, place), program_.operations[place.at].operands[i], all, together.operands[i],
           place.lanes);
    }
  }
  together.handler(all, together);
  for (AccessObserver* const observer : context_.observers) observer->lanes_met(all, all.mask);
  for (const Standing& place : places) {
    for (int i = 0; i < kOperands; ++i) {
      if (!kinds.is_result(i)) continue;
      move(kinds.bits(i), all, together.operands[i], state_at(warp, place), program_.operations[place.at].operands[i],
           place.lanes);
    }
    go_behind(warp, place);
  }
  if (!warp.paths.any_waits()) warp.state.passed_by = 0;
}

/// The warp arrives at a barrier with lanes that stand at several instructions of it.
void BlockRunner::arrive_together(Warp& warp, std::span<const Standing> places) {
  for (const Standing& place : places) go_behind(warp, place);
  const Standing& first = places.front();
  warp.state = state_at(warp, first);
  arrive(warp, program_.operations[first.at], first.lanes, places.subspan(1));
  if (!warp.paths.any_waits()) warp.state.passed_by = 0;
}

/// The current path waits: another one runs, or this one goes on.
void BlockRunner::schedule(Warp& warp) {
  if (go_on_where_all_are(warp) || warp.paths.run_another()) return;
  // Lanes that only wait where their ways meet may be on the way to this operation or to a corresponding one.
  if (warp.paths.release_met()) {
    const Path& met = warp.paths.current();
    for (const Path& path : warp.paths.all()) {
      if (path.state != PathState::waits || path.mask == 0) continue;
      // Lanes that have returned from a call may go anywhere.
      if (path.frame == met.frame && program_.should_meet(path.next, met.next, met.parted_at)) {
        // Without checkers only a barrier of the block tells such lanes: an exchange goes on once they have exited.
        const bool is_told =
            context_.findings != nullptr || program_.operations[path.next].kind == OperationKind::barrier;
        if (is_told) warp.state.passed_by |= met.mask;
      }
    }
    return;
  }
  // A block's barrier is not to blame while lanes wait for others that stand at it.
  Path blamed = warp.paths.current();
  for (const Path& path : warp.paths.all()) {
    if (path.state == PathState::waits && program_.operations[path.next].kind == OperationKind::meeting) blamed = path;
  }
  go_on(warp, blamed.next, blamed.frame,
        warp.paths.waiting_at(blamed.next, blamed.frame));  // without lanes that cannot come: the operation reports it
}

/// All warps repeat themselves: lanes that wait for others of their warp to leave a loop go on, since the loop may be
/// waiting for them.
bool BlockRunner::release_met() {
  bool any = false;
  for (Warp& warp : warps_) {
    if (warp.status != WarpStatus::running || !warp.paths.release_met()) continue;
    warp.spin.forget();
    any = true;
  }
  return any;
}

// --- barriers -------------------------------------------------------------------------------------------------------

/// Checks the operands of a barrier; false if the warp cannot arrive with them.
bool BlockRunner::barrier_operands(const Warp& warp, const Operation& operation, LaneMask lanes,
                                   BlockBarriers::Arrival& arrival) const {
  if (operation.offset == BlockBarriers::kOfGroups) {
    const auto group = static_cast<std::uint32_t>(warp.state.index) / BlockBarriers::kWarpsOfGroup;
    arrival.barrier = BlockBarriers::kOfGroups + group;
    arrival.threads = barriers_.threads_of_group(warp.state.index);
    return true;
  }
  const auto* const numbers = warp.state.read<std::uint32_t>(operation.operands[0]);
  const auto* const threads = warp.state.read<std::uint32_t>(operation.operands[1]);
  if (!is_uniform(numbers, lanes) || !is_uniform(threads, lanes)) {
    synchronization_fault(warp, operation, kNotUniform, lanes,
                          "the threads of the warp name different barriers or numbers of threads");
  }
  arrival.barrier = numbers[std::countr_zero(lanes)];
  arrival.threads = threads[std::countr_zero(lanes)];
  if (arrival.barrier >= BlockBarriers::kCount && operation.offset != BlockBarriers::kOfCluster) {
    synchronization_fault(warp, operation, kBadBarrier, lanes,
                          fmt::format("barrier {}; they are numbered from 0 to 15", arrival.barrier));
    return false;
  }
  const bool has_threads = operation.vector_elements == 1;
  if (has_threads && (arrival.threads == 0 || arrival.threads % kLanes != 0)) {
    synchronization_fault(warp, operation, kBadThreads, lanes,
                          fmt::format("a barrier for {} threads; a multiple of 32 is expected", arrival.threads));
    return false;
  }
  return true;
}

void BlockRunner::check_divergence(const Warp& warp, const Operation& operation, LaneMask lanes) const {
  const LaneMask missing = warp.state.all() & ~lanes;
  if (missing == 0) return;
  synchronization_fault(warp, operation, kDivergent, lanes,
                        fmt::format("barrier in divergent code: {} of the warp's {} threads have not arrived",
                                    std::popcount(missing), std::popcount(warp.state.all())));
}

void BlockRunner::wait_at_barrier(Warp& warp, const Operation& operation, LaneMask lanes, std::uint32_t barrier) {
  warp.status = WarpStatus::at_barrier;
  warp.waits_at = &operation;
  warp.waiting = lanes;
  warp.waiting_too.clear();
  warp.barrier = barrier;
}

/// A warp arrives at the cluster's barrier and waits there, in turn; false, and a fault, if the order is violated.
bool BlockRunner::order_at_cluster_barrier(Warp& warp, const Operation& operation, LaneMask lanes) {
  const bool waits = static_cast<BarrierAction>(operation.detail) == BarrierAction::wait_without_arriving;
  if (warp.arrived_at_cluster == waits) {
    warp.arrived_at_cluster = !waits;
    return true;
  }
  synchronization_fault(warp, operation, kOutOfTurn, lanes,
                        waits ? "a wait at the cluster's barrier without an arrival before it"
                              : "a second arrival at the cluster's barrier without a wait behind the first");
  return false;
}

/// Lanes arrive at a barrier, and others with them that stand at other instructions of it. Returns whether the warp's
/// turn continues.
bool BlockRunner::arrive(Warp& warp, const Operation& operation, LaneMask lanes, std::span<const Standing> others) {
  LaneMask all = lanes;
  for (const Standing& other : others) all |= other.lanes;
  check_divergence(warp, operation, all);
  BlockBarriers::Arrival arrival;
  if (!barrier_operands(warp, operation, lanes, arrival)) return true;
  const auto action = static_cast<BarrierAction>(operation.detail);
  if (arrival.barrier == BlockBarriers::kOfCluster && !order_at_cluster_barrier(warp, operation, lanes)) return true;
  if (action == BarrierAction::wait_without_arriving) {
    if (!barriers_.is_awaited_by(arrival.barrier, warp.state.index)) return true;
    wait_at_barrier(warp, operation, lanes, arrival.barrier);
    return false;
  }
  arrival.warp = warp.state.index;
  arrival.lanes = all;
  const bool reduces = action != BarrierAction::wait && action != BarrierAction::arrive;
  if (reduces) {
    arrival.predicate = *warp.state.read<LaneMask>(operation.operands[3]) & lanes;
    for (const Standing& other : others) {
      const Slot predicate = program_.operations[other.at].operands[3];
      arrival.predicate |= *state_at(warp, other).read<LaneMask>(predicate) & other.lanes;
    }
  }
  if (const auto mismatch = barriers_.arrive(arrival); mismatch.is_one) {
    synchronization_fault(warp, operation, kOtherThreads, lanes,
                          fmt::format("barrier {} for {}, while others wait for {}", arrival.barrier,
                                      threads_text(arrival.threads), threads_text(mismatch.threads)));
    return true;
  }
  if (action != BarrierAction::arrive) {
    wait_at_barrier(warp, operation, lanes, arrival.barrier);
    if (reduces) warp.waiting_too.assign(others.begin(), others.end());
  }
  complete_barrier(arrival.barrier);
  return action == BarrierAction::arrive;
}

/// Releases the warps that wait at a barrier if all have arrived. The cluster's barrier also needs the other blocks.
void BlockRunner::complete_barrier(std::uint32_t barrier) {
  if (!barriers_.is_complete(barrier)) return;
  if (barrier == BlockBarriers::kOfCluster && context_.cluster != nullptr) return;
  pass_barrier(barrier);
}

void BlockRunner::pass_cluster_barrier() {
  pass_barrier(BlockBarriers::kOfCluster);
  waits_since_.reset();
}

/// Gives lanes the result of a reduction for which they have waited.
void BlockRunner::give_result(const WarpState& state, LaneMask lanes, const Operation& operation,
                              std::uint32_t barrier) const {
  const auto action = static_cast<BarrierAction>(operation.detail);
  const std::uint32_t result = barriers_.result(barrier, action);
  if (action == BarrierAction::count) {
    write_lanes(state.write<std::uint32_t>(operation.operands[2]), lanes, [result](int /*lane*/) { return result; });
  } else if (action == BarrierAction::all || action == BarrierAction::any) {
    write_predicate(state.write<LaneMask>(operation.operands[2]), lanes, result);
  }
}

/// Finds warps that meet at different instructions of a barrier for the whole block, which PTX and the guide leave
/// undefined for barriers of whole warps: one that only a part of the block executes.
void BlockRunner::check_places(std::uint32_t barrier) const {
  if (context_.findings == nullptr || barrier >= BlockBarriers::kCount) return;
  std::map<int, int> threads;  // by instruction
  for (const Warp& warp : warps_) {
    if (warp.status != WarpStatus::at_barrier || warp.barrier != barrier) continue;
    const bool is_of_whole_warps = warp.waits_at->target != Operation::kEachThread;
    if (!is_of_whole_warps || warp.waits_at->vector_elements != 0) return;
    threads[warp.waits_at->instruction] += std::popcount(warp.waiting);
  }
  if (threads.size() < 2) return;
  const auto fewest = std::ranges::min_element(threads, {}, &std::pair<const int, int>::second);
  const auto other = fewest == threads.begin() ? std::next(fewest) : threads.begin();
  int all = 0;
  for (const auto& [instruction, count] : threads) all += count;
  const ptx::Instruction& there = program_.kernel->instructions[static_cast<std::size_t>(other->first)];
  const bool has_source = there.source.line > 0;
  for (const Warp& warp : warps_) {
    const bool is_one = warp.status == WarpStatus::at_barrier && warp.barrier == barrier;
    if (!is_one || warp.waits_at->instruction != fewest->first) continue;
    return synchronization_fault(
        warp, *warp.waits_at, kPartOfBlock, warp.waiting,
        fmt::format("only a part of the block executes this barrier: {} of {} threads; others meet them at {}line {}",
                    fewest->second, all, has_source ? "" : "PTX ",
                    has_source ? there.source.line : there.position.line));
  }
}

void BlockRunner::pass_barrier(std::uint32_t barrier) {
  check_places(barrier);
  for (Warp& warp : warps_) {
    if (warp.status != WarpStatus::at_barrier || warp.barrier != barrier) continue;
    give_result(warp.state, warp.waiting, *warp.waits_at, barrier);
    for (const Standing& place : warp.waiting_too) {
      give_result(state_at(warp, place), place.lanes, program_.operations[place.at], barrier);
    }
    warp.status = WarpStatus::running;
    warp.spin.forget();
  }
  // Warps that only arrived are among those that met: their work before that is ordered, and their work since is
  // assumed to be.
  const std::uint32_t met = barriers_.release(barrier);
  for (AccessObserver* const observer : context_.observers) {
    if (barrier >= BlockBarriers::kOfGroups) {
      observer->products_met(context_, met);
    } else {
      observer->barrier_passed(context_, met);
    }
  }
}

/// Reports that no warp can run and some wait at barriers.
void BlockRunner::report_deadlock(const std::string& others) const {
  const auto first = std::ranges::find(warps_, WarpStatus::at_barrier, &Warp::status);
  std::string problem = fmt::format("deadlock: waits forever at {}", barriers_.describe(first->barrier));
  std::uint32_t told = std::uint32_t{1} << first->barrier;
  for (const Warp& warp : warps_) {
    if (warp.status != WarpStatus::at_barrier || ((told >> warp.barrier) & 1U) != 0) continue;
    told |= std::uint32_t{1} << warp.barrier;
    problem += fmt::format("; warp {} waits at {}", warp.state.index, barriers_.describe(warp.barrier));
  }
  synchronization_fault(*first, *first->waits_at, kDeadlock, first->waiting, problem + others);
}

// --- loops ----------------------------------------------------------------------------------------------------------

/// Grows whenever a block of this host thread changes memory.
std::uint64_t BlockRunner::memory_changes() const {
  std::uint64_t changes = context_.memory_changes;
  for (const int instruction : storing_instructions_) changes += context_.counters[instruction].requests;
  return changes;
}

/// As `memory_changes`, without stores of this block into its own shared and local memory.
std::uint64_t BlockRunner::changes_for_others() const {
  std::uint64_t changes = context_.memory_changes;
  for (std::size_t i = stores_for_block_; i < storing_instructions_.size(); ++i) {
    changes += context_.counters[storing_instructions_[i]].requests;
  }
  return changes;
}

bool BlockRunner::any_running() const {
  return std::ranges::any_of(warps_, [](const Warp& warp) { return warp.status == WarpStatus::running; });
}

bool BlockRunner::any_at_cluster_barrier() const {
  return context_.cluster != nullptr && std::ranges::any_of(warps_, [](const Warp& warp) {
           return warp.status == WarpStatus::at_barrier && warp.barrier == BlockBarriers::kOfCluster;
         });
}

bool BlockRunner::can_go_on() const {
  if (context_.has_ended) return false;
  return !waits_since_ || (any_running() && *waits_since_ != changes_for_others());
}

/// Whether the block repeats itself: warps that loop from barrier to barrier never do between two of them.
bool BlockRunner::repeats() {
  std::vector<std::span<const std::byte>> pieces;
  for (const Warp& warp : warps_) {
    if (program_.calls_functions()) pieces.push_back(warp.frames.content());
    pieces.push_back(std::as_bytes(warp.paths.all()));
    pieces.push_back(std::as_bytes(std::span(&warp.status, 1)));
  }
  for (const std::vector<std::byte>* const bytes : {&registers_, &context_.shared, &context_.local}) {
    pieces.emplace_back(*bytes);
  }
  over_rounds_.add(pieces, changes_for_others());
  return over_rounds_.found(changes_for_others());
}

/// Whether the block is left after a round of its warps.
std::optional<BlockProgress> BlockRunner::look_at_patience(const BlockPatience& patience) {
  const std::uint64_t now = executed();
  if (now - patience_.looked < kOperationsPerLook) return std::nullopt;
  patience_.looked = now;
  if (const std::uint64_t changes = changes_for_others(); changes != patience_.changes) {
    patience_ = {changes, now, now, patience_.begun};
    over_rounds_.forget();
    // A block may wait for another one and change memory all the time, such as a counter of its turns.
    constexpr std::uint64_t kTimesWhileItWrites = 4;
    const bool is_patient = (now - patience_.begun) / kTimesWhileItWrites < patience.operations;
    return is_patient ? std::nullopt : std::optional(BlockProgress::yields);
  }
  if (repeats()) {
    waits_since_ = changes_for_others();
    return BlockProgress::waits;
  }
  return now - patience_.changed < patience.operations ? std::nullopt : std::optional(BlockProgress::yields);
}

void BlockRunner::give_up(const std::string& others) {
  // Whoever waits for a block that has trapped does not wait on a GPU, where the grid has ended.
  if (!launch_.has_trapped) any_running() ? report_spinning(others) : report_deadlock(others);
  end();
}

/// Whether every warp that could run repeats itself.
bool BlockRunner::all_wait() const {
  bool any = false;
  std::uint64_t changes = 0;
  for (const Warp& warp : warps_) {
    if (warp.status != WarpStatus::running) continue;
    if (!any) changes = memory_changes();
    any = true;
    if (!warp.spin.waits(changes)) return false;
  }
  return any;
}

void BlockRunner::report_spinning(const std::string& others) const {
  const auto parked = [](const Warp& warp) { return warp.state.live & ~warp.paths.current().mask; };
  const auto spins = [](const Warp& warp) { return warp.status == WarpStatus::running && warp.waits_at != nullptr; };
  auto found = std::ranges::find_if(warps_, [&](const Warp& warp) { return spins(warp) && parked(warp) != 0; });
  const bool others_wait = found != warps_.end();
  if (!others_wait) found = std::ranges::find_if(warps_, spins);
  std::string problem = "waits forever: the loop repeats";
  if (others_wait) {
    problem += fmt::format(" while {} threads of the same warp wait elsewhere,", std::popcount(parked(*found)));
  }
  problem += fmt::format(" and no other warp of the block can change memory{}", others);
  synchronization_fault(*found, *found->waits_at, kSpinning, found->paths.current().mask, problem);
}

// --- limits ---------------------------------------------------------------------------------------------------------

std::uint64_t BlockRunner::executed() const {
  std::uint64_t operations = 0;
  for (const Warp& warp : warps_) operations += warp.executed;
  return operations;
}

void BlockRunner::look_at_limits(const Warp& warp, const Operation& operation, LaneMask lanes) {
  const std::string reason = limits_.look(executed(), memory_changes());
  if (reason.empty()) return;
  const int lane = std::countr_zero(lanes);
  stop(reason, place_text(context_.finding_at(warp.state, operation, lane, Checker::synchronization, "")));
}

/// Ends the launch unless the reason is empty.
void BlockRunner::stop(const std::string& reason, const std::string& where) {
  if (reason.empty()) return;
  launch_.stop_behind(context_.block_number);
  throw LaunchStopped(fmt::format("{}{}", reason, where.empty() ? "" : ": " + where));
}

}  // namespace convladder::simulated
