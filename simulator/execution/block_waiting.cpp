// Places where the warps of a block wait for each other: barriers, loops that wait for a write, and deadlocks.

#include <fmt/format.h>

#include <algorithm>

#include "simulator/execution/block_runner.hpp"

namespace convladder::simulated {
namespace {

/// The kinds of faults of one instruction.
enum Fault { kDivergent, kNotUniform, kBadBarrier, kBadThreads, kOtherThreads, kDeadlock, kSpinning, kOutOfTurn };

constexpr std::uint64_t kOperationsPerLook = 4096;  // of a block that may wait for others

std::string threads_text(std::uint32_t threads) {
  return threads == 0 ? "all threads of the block" : fmt::format("{} threads", threads);
}

/// Whether a value is the same in all lanes of the mask.
bool is_uniform(const std::uint32_t* values, LaneMask lanes) {
  const std::uint32_t first = values[std::countr_zero(lanes)];
  bool same = true;
  for (int lane = 0; lane < kLanes; ++lane) same = same && (((lanes >> lane) & 1U) == 0 || values[lane] == first);
  return same;
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

/// The lanes that wait where the path waits, or at a warp barrier that names the same lanes.
LaneMask BlockRunner::waiting_with(const Warp& warp, const Path& path) const {
  const Operation& operation = program_.operations[path.next];
  const auto is_warp_barrier = [](const Operation& one) {
    return one.kind == OperationKind::meeting && one.detail == Operation::kWarpBarrier;
  };
  const auto named = [&](const Path& one) {
    const Operation& barrier = program_.operations[one.next];
    return state_in(warp, one).read<LaneMask>(barrier.operands[barrier.members()])[std::countr_zero(one.mask)];
  };
  LaneMask lanes = 0;
  for (const Path& other : warp.paths.all()) {
    if (other.state != PathState::waits || other.mask == 0) continue;
    const bool corresponds =
        is_warp_barrier(operation) && is_warp_barrier(program_.operations[other.next]) && named(path) == named(other);
    if ((other.next == path.next && other.frame == path.frame) || corresponds) lanes |= other.mask;
  }
  return lanes;
}

/// Lets waiting lanes go on if all the lanes that they wait for have arrived.
bool BlockRunner::go_on_where_all_are(Warp& warp) {
  for (const Path& path : warp.paths.all()) {
    if (path.state != PathState::waits || path.mask == 0) continue;
    const LaneMask here = warp.paths.waiting_at(path.next, path.frame);
    const LaneMask all = waiting_with(warp, path);
    if ((awaited(state_in(warp, path), program_.operations[path.next], here) & ~all) != 0) continue;
    go_on(warp, path.next, path.frame, all);
    return true;
  }
  return false;
}

/// The given lanes that wait at the operation go on as one path, and the others from where they are.
void BlockRunner::go_on(Warp& warp, int at, int frame, LaneMask lanes) {
  for (LaneMask left = lanes; left != 0;) {
    const int paths = warp.paths.go_on_together(at, frame);
    count_again(at, program_.blocks[program_.block_of_operation[at]].end, 1 - paths);
    Path& path = warp.paths.current();
    path.elsewhere = lanes & ~path.mask;
    left &= ~path.mask;
    for (const Path& other : warp.paths.all()) {
      if (other.state != PathState::waits || (other.mask & left) == 0) continue;
      at = other.next;
      frame = other.frame;
    }
  }
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
        warp.state.passed_by |= met.mask;
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

bool BlockRunner::arrive(Warp& warp, const Operation& operation, LaneMask lanes) {
  check_divergence(warp, operation, lanes);
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
  arrival.lanes = lanes;
  const bool reduces = action != BarrierAction::wait && action != BarrierAction::arrive;
  if (reduces) arrival.predicate = *warp.state.read<LaneMask>(operation.operands[3]);
  if (const auto mismatch = barriers_.arrive(arrival); mismatch.is_one) {
    synchronization_fault(warp, operation, kOtherThreads, lanes,
                          fmt::format("barrier {} for {}, while others wait for {}", arrival.barrier,
                                      threads_text(arrival.threads), threads_text(mismatch.threads)));
    return true;
  }
  if (action != BarrierAction::arrive) wait_at_barrier(warp, operation, lanes, arrival.barrier);
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

void BlockRunner::pass_barrier(std::uint32_t barrier) {
  for (Warp& warp : warps_) {
    if (warp.status != WarpStatus::at_barrier || warp.barrier != barrier) continue;
    const auto action = static_cast<BarrierAction>(warp.waits_at->detail);
    const Slot destination = warp.waits_at->operands[2];
    const std::uint32_t result = barriers_.result(barrier, action);
    if (action == BarrierAction::count) {
      write_lanes(warp.state.write<std::uint32_t>(destination), warp.waiting,
                  [result](int /*lane*/) { return result; });
    } else if (action == BarrierAction::all || action == BarrierAction::any) {
      write_predicate(warp.state.write<LaneMask>(destination), warp.waiting, result);
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
  any_running() ? report_spinning(others) : report_deadlock(others);
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
