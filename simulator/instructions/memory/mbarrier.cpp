// mbarrier (PTX ISA 9.0, 9.7.13.15), and cp.async's arrivals at one.
//
// Arrivals take effect at once. Copies that are to complete a phase land when somebody checks whether it has ended,
// no sooner: a program that reads their data without having waited reads the old data. A warp that finds a phase not
// ended lets the others go on; a wait that can never end is found like any other loop that repeats itself.

#include "simulator/instructions/memory/mbarrier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/state/asynchronous_copy.hpp"
#include "simulator/state/bulk_copies.hpp"
#include "simulator/state/cluster.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {

Mbarrier Mbarrier::expecting(std::uint32_t arrivals) {
  Mbarrier barrier(std::uint64_t{1} << kValid);
  barrier.set(kExpected, 20, arrivals);
  barrier.set(kPending, 20, arrivals);
  return barrier;
}

void Mbarrier::set(int first, int bits, std::uint32_t value) {
  const std::uint64_t mask = ((std::uint64_t{1} << bits) - 1) << first;
  bits_ = (bits_ & ~mask) | ((std::uint64_t{value} << first) & mask);
}

std::int64_t Mbarrier::bytes() const {
  const std::int64_t value = field(kBytes, 21);
  return value > kMostBytes ? value - (1 << 21) : value;
}

bool Mbarrier::expect_bytes(std::int64_t more) {
  const std::int64_t value = bytes() + more;
  if (value > kMostBytes || value < -kMostBytes) return false;
  set(kBytes, 21, static_cast<std::uint32_t>(value));
  return true;
}

bool Mbarrier::arrive(std::uint32_t arrivals) {
  if (arrivals > pending()) return false;
  set(kPending, 20, pending() - arrivals);
  return true;
}

bool Mbarrier::add_pending(std::uint32_t arrivals) {
  if (arrivals > kMostArrivals - pending()) return false;
  set(kPending, 20, pending() + arrivals);
  return true;
}

bool Mbarrier::drop(std::uint32_t arrivals) {
  if (arrivals > expected()) return false;
  set(kExpected, 20, expected() - arrivals);
  return true;
}

bool Mbarrier::next_phase_if_complete() {
  if (pending() != 0 || bytes() != 0) return false;
  set(kPending, 20, expected());
  set(kPhase, 1, parity() ^ 1U);
  return true;
}

namespace {

/// Kinds of faults in addition to those of accesses.
enum MbarrierFault { kNotInitialized = 110, kOutOfRange, kCompletes, kBadCount };

void mbarrier_fault(const MbarrierPlace& place, int kind, const std::string& problem) {
  const BlockContext& block = *place.warp.block;
  block.fault(place.warp, place.operation, Checker::synchronization, kind, LaneMask{1} << place.lane, [&](int lane) {
    Finding finding = block.finding_at(place.warp, place.operation, lane, Checker::synchronization, problem);
    finding.space = "shared";
    finding.address = place.offset;
    return finding;
  });
}

/// The mbarrier; none, and a fault, if it is not initialised.
std::optional<Mbarrier> mbarrier_at(const MbarrierPlace& place) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, place.at, sizeof bits);
  if (const Mbarrier barrier(bits); barrier.is_valid()) return barrier;
  mbarrier_fault(place, kNotInitialized,
                 fmt::format("the mbarrier at offset {} of shared memory is not initialised", place.offset));
  return std::nullopt;
}

void store(const MbarrierPlace& place, Mbarrier barrier) {
  const std::uint64_t bits = barrier.bits();
  std::memcpy(place.at, &bits, sizeof bits);
  ++place.warp.block->memory_changes;
}

/// Applies change(Mbarrier&), which returns false where a count does not fit its bits; begins the next phase if that
/// completes this one, and returns whether it did. If the object is not initialised, there is only a fault.
template <typename Change>
bool change_mbarrier(const MbarrierPlace& place, const Change& change) {
  std::optional<Mbarrier> barrier = mbarrier_at(place);
  if (!barrier) return false;
  if (!change(*barrier)) {
    mbarrier_fault(
        place, kOutOfRange,
        fmt::format("more than the mbarrier at offset {} of shared memory can count: {} arrivals are pending "
                    "of {}, and {} bytes",
                    place.offset, barrier->pending(), barrier->expected(), barrier->bytes()));
    return false;
  }
  const bool completes = barrier->next_phase_if_complete();
  store(place, *barrier);
  if (completes) {
    for (AccessObserver* const observer : place.warp.block->observers) {
      observer->phase_ended(*place.owner, place.offset);
    }
  }
  return completes;
}

}  // namespace

void add_arrival(BlockContext& owner, PendingArrival arrival) {
  if (owner.schedule != nullptr && owner.schedule->lands_at_once()) return arrival.land();
  owner.arrivals.push_back(std::move(arrival));
  ++owner.memory_changes;  // waiting blocks look again
  if (owner.arrivals.size() <= kMostUnderWay) return;
  const PendingArrival oldest = std::move(owner.arrivals.front());
  owner.arrivals.erase(owner.arrivals.begin());
  oldest.land();
}

void complete_bytes(const MbarrierPlace& place, std::int64_t bytes) {
  change_mbarrier(place, [bytes](Mbarrier& barrier) { return barrier.expect_bytes(-bytes); });
}

namespace {

constexpr int kMbarrierBytes = 8;

/// Calls body(MbarrierPlace) for every lane, in ascending order. Operand 0 is the offset in shared memory.
template <typename Body>
void for_each_mbarrier(const WarpState& warp, const Operation& operation, AccessKind kind, const Body& body) {
  const Addresses addresses = lane_addresses(warp, operation, operation.operands[0], true);
  const LanePlaces places = reach<ptx::Space::shared>(warp, operation, addresses, kMbarrierBytes, kind);
  for (LaneMask left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const SharedPlace place = shared_place(*warp.block, operation, addresses[lane]);
    body(MbarrierPlace{warp, operation, lane, place.offset, places.at[lane], place.owner});
  }
}

/// Operands: mbarrier, arrivals.
void initialize(WarpState& warp, const Operation& operation) {
  const auto* const counts = warp.read<std::uint32_t>(operation.operands[1]);
  for_each_mbarrier(warp, operation, AccessKind::store, [&](const MbarrierPlace& place) {
    const std::uint32_t count = counts[place.lane];
    if (count == 0 || count > Mbarrier::kMostArrivals) {
      return mbarrier_fault(
          place, kBadCount,
          fmt::format("an mbarrier for {} arrivals; 1 to {} are possible", count, Mbarrier::kMostArrivals));
    }
    store(place, Mbarrier::expecting(count));
  });
}

void invalidate(WarpState& warp, const Operation& operation) {
  for_each_mbarrier(warp, operation, AccessKind::atomic, [](const MbarrierPlace& place) {
    if (mbarrier_at(place)) store(place, Mbarrier(0));
  });
}

/// Operands: mbarrier, bytes.
void expect_bytes(WarpState& warp, const Operation& operation) {
  const auto* const bytes = warp.read<std::uint32_t>(operation.operands[1]);
  for_each_mbarrier(warp, operation, AccessKind::atomic, [&](const MbarrierPlace& place) {
    change_mbarrier(place, [&](Mbarrier& barrier) { return barrier.expect_bytes(bytes[place.lane]); });
  });
}

void complete_expected_bytes(WarpState& warp, const Operation& operation) {
  const auto* const bytes = warp.read<std::uint32_t>(operation.operands[1]);
  for_each_mbarrier(warp, operation, AccessKind::atomic,
                    [&](const MbarrierPlace& place) { complete_bytes(place, bytes[place.lane]); });
}

/// Bits of Operation::detail of an arrival.
enum ArriveDetail { kDrops = 1, kMayNotComplete = 2 };

/// Operands: mbarrier, arrivals, bytes to expect first; the old state goes to operand 3.
void arrive(WarpState& warp, const Operation& operation) {
  const auto* const arrivals = warp.read<std::uint32_t>(operation.operands[1]);
  const auto* const bytes = warp.read<std::uint32_t>(operation.operands[2]);
  std::array<std::uint64_t, kLanes> states{};
  for_each_mbarrier(warp, operation, AccessKind::atomic, [&](const MbarrierPlace& place) {
    std::memcpy(&states[place.lane], place.at, sizeof states[0]);
    const std::uint32_t count = arrivals[place.lane];
    const bool completes = change_mbarrier(place, [&](Mbarrier& barrier) {
      if ((operation.detail & kDrops) != 0 && !barrier.drop(count)) return false;
      return barrier.expect_bytes(bytes[place.lane]) && barrier.arrive(count);
    });
    if (completes && (operation.detail & kMayNotComplete) != 0) {
      mbarrier_fault(place, kCompletes, "an arrival with .noComplete completes the phase");
    }
  });
  write_lanes(warp.write<std::uint64_t>(operation.operands[3]), warp.mask, [&](int lane) { return states[lane]; });
}

/// Lands everything that is on its way to an mbarrier.
void land(BlockContext& block, std::uint64_t mbarrier) {
  if (std::ranges::find(block.arrivals, mbarrier, &PendingArrival::mbarrier) == block.arrivals.end()) return;
  std::vector<PendingArrival> landing;
  std::vector<PendingArrival> others;
  for (PendingArrival& arrival : block.arrivals) {
    (arrival.mbarrier == mbarrier ? landing : others).push_back(std::move(arrival));
  }
  block.arrivals = std::move(others);
  for (const PendingArrival& arrival : landing) arrival.land();
}

/// Bits of `detail` of a wait.
enum WaitDetail { kByParity = 1, kAcquires = 2 };

/// Operands: mbarrier, the state or the parity of the phase, the predicate that says whether that phase has ended.
void test_wait(WarpState& warp, const Operation& operation) {
  LaneMask ended = 0;
  for_each_mbarrier(warp, operation, AccessKind::atomic, [&](const MbarrierPlace& place) {
    Schedule* const schedule = place.owner->schedule;
    if (schedule == nullptr || !schedule->is_still_on_its_way()) land(*place.owner, place.offset);
    const std::optional<Mbarrier> barrier = mbarrier_at(place);
    if (!barrier) return;
    const std::uint32_t parity = (operation.detail & kByParity) != 0
                                     ? warp.read<std::uint32_t>(operation.operands[1])[place.lane] & 1U
                                     : Mbarrier(warp.read<std::uint64_t>(operation.operands[1])[place.lane]).parity();
    if (barrier->parity() == parity) return;
    ended |= LaneMask{1} << place.lane;
    if ((operation.detail & kAcquires) == 0) return;
    for (AccessObserver* const observer : warp.block->observers) observer->phase_seen(warp, place.offset);
  });
  if ((warp.mask & ~ended) != 0) warp.block->waits_in_vain = true;
  write_predicate(warp.write<LaneMask>(operation.operands[2]), warp.mask, ended);
}

void pending_count(WarpState& warp, const Operation& operation) {
  const auto* const states = warp.read<std::uint64_t>(operation.operands[1]);
  write_lanes(warp.write<std::uint32_t>(operation.operands[0]), warp.mask,
              [=](int lane) { return Mbarrier(states[lane]).pending(); });
}

/// The lane's copies so far arrive when they have landed. `detail` is 1 if they count as one of the expected arrivals.
void arrive_with_copies(WarpState& warp, const Operation& operation) {
  PendingCopies& copies = warp.block->copies[static_cast<std::size_t>(warp.index)];
  const std::uint64_t begun = copies.begun();
  for_each_mbarrier(warp, operation, AccessKind::atomic, [&](const MbarrierPlace& place) {
    if (operation.detail == 0) change_mbarrier(place, [](Mbarrier& barrier) { return barrier.add_pending(1); });
    BlockContext* const owner = place.owner;
    add_arrival(*owner, {place.offset,
                         [warp, &operation, lane = place.lane, offset = place.offset, at = place.at, begun, owner] {
                           land_copies(warp, LaneMask{1} << lane, begun);
                           for (AccessObserver* const observer : warp.block->observers) observer->arrives(warp, offset);
                           change_mbarrier({warp, operation, lane, offset, at, owner},
                                           [](Mbarrier& barrier) { return barrier.arrive(1); });
                         }});
  });
}

// --- decoding -------------------------------------------------------------------------------------------------------

using Words = std::vector<std::string_view>;

/// The words after the operation, all of them optional: order, scope, state space; then ".b64".
struct Suffix {
  ptx::Space space = ptx::Space::generic;
  bool is_relaxed = false;
};
std::optional<Suffix> parse_suffix(const Words& words, std::size_t first) {
  Suffix suffix;
  if (words.back() != "b64") return std::nullopt;
  for (std::size_t i = first; i + 1 < words.size(); ++i) {
    if (words[i] == "shared" || words[i] == "shared::cta" || words[i] == "shared::cluster") {
      suffix.space = ptx::Space::shared;
    } else if (words[i] == "relaxed") {
      suffix.is_relaxed = true;
    } else if (words[i] != "release" && words[i] != "acquire" && words[i] != "cta" && words[i] != "cluster") {
      return std::nullopt;
    }
  }
  return suffix;
}

bool decode_arrive(InstructionDecoder& decoder, const Words& words) {
  std::size_t next = 2;
  const bool expects = words[next] == "expect_tx";
  const bool may_not_complete = words[next] == "noComplete";
  if (expects || may_not_complete) ++next;
  const auto suffix = parse_suffix(words, next);
  if (!suffix) return false;
  const auto& operands = decoder.instruction().operands;
  const std::size_t count = operands.size();
  if (count != 3 && (count != 2 || expects || may_not_complete)) decoder.expect_operands(3);
  const Slot given = count == 3 ? decoder.read(operands[2], 32) : decoder.constant(1, 32);
  Operation operation;
  operation.handler = arrive;
  operation.operands[0] = decoder.shared_address(operands[1], suffix->space);
  operation.operands[1] = expects ? decoder.constant(1, 32) : given;
  operation.operands[2] = expects ? given : decoder.constant(0, 32);
  operation.operands[3] = decoder.write(operands[0], 64);
  operation.detail = (words[1] == "arrive_drop" ? kDrops : 0) | (may_not_complete ? kMayNotComplete : 0);
  decoder.emit(operation);
  return true;
}

bool decode_wait(InstructionDecoder& decoder, const Words& words) {
  const bool by_parity = words[2] == "parity";
  const auto suffix = parse_suffix(words, by_parity ? 3 : 2);
  if (!suffix) return false;
  const auto& operands = decoder.instruction().operands;
  const bool may_have_limit = words[1] == "try_wait" && operands.size() == 4;
  decoder.expect_operands(may_have_limit ? 4 : 3);
  if (may_have_limit) static_cast<void>(decoder.read(operands[3], 32));  // the time that the thread may sleep
  Operation operation;
  operation.handler = test_wait;
  operation.operands[0] = decoder.shared_address(operands[1], suffix->space);
  operation.operands[1] = decoder.read(operands[2], by_parity ? 32 : 64);
  operation.operands[2] = decoder.write(operands[0], 1);
  operation.detail = (by_parity ? kByParity : 0) | (suffix->is_relaxed ? 0 : kAcquires);
  decoder.emit(operation);
  return true;
}

/// Decodes "[address]" and perhaps a number: init, inval, expect_tx, complete_tx, and cp.async's arrival.
bool decode_on_address(InstructionDecoder& decoder, const Words& words, std::size_t first, Handler handler,
                       bool has_number, int detail = 0) {
  const auto suffix = parse_suffix(words, first);
  if (!suffix) return false;
  decoder.expect_operands(has_number ? 2 : 1);
  const auto& operands = decoder.instruction().operands;
  Operation operation;
  operation.handler = handler;
  operation.operands[0] = decoder.shared_address(operands[0], suffix->space);
  if (has_number) operation.operands[1] = decoder.read(operands[1], 32);
  operation.detail = detail;
  decoder.emit(operation);
  return true;
}

bool decode_copy_arrival(InstructionDecoder& decoder, const Words& words) {
  if (words.size() < 5 || words[0] != "cp" || words[1] != "async" || words[2] != "mbarrier" || words[3] != "arrive") {
    return false;
  }
  const bool counts = words[4] == "noinc";
  return decode_on_address(decoder, words, counts ? 5 : 4, arrive_with_copies, false, counts ? 1 : 0);
}

}  // namespace

bool decode_mbarrier(InstructionDecoder& decoder) {
  const Words words = ptx::split_opcode(decoder.instruction().opcode);
  if (decode_copy_arrival(decoder, words)) return true;
  if (words[0] != "mbarrier" || words.size() < 3) return false;
  const std::string_view name = words[1];
  if (name == "arrive" || name == "arrive_drop") return decode_arrive(decoder, words);
  if (name == "test_wait" || name == "try_wait") return decode_wait(decoder, words);
  if (name == "init") return decode_on_address(decoder, words, 2, initialize, true);
  if (name == "inval") return decode_on_address(decoder, words, 2, invalidate, false);
  if (name == "expect_tx") return decode_on_address(decoder, words, 2, expect_bytes, true);
  if (name == "complete_tx") return decode_on_address(decoder, words, 2, complete_expected_bytes, true);
  if (name != "pending_count" || words.size() != 3 || words[2] != "b64") return false;
  decoder.expect_operands(2);
  const auto& operands = decoder.instruction().operands;
  const Slot state = decoder.read(operands[1], 64);
  decoder.emit(pending_count, {decoder.write(operands[0], 32), state});
  return true;
}

}  // namespace convladder::simulated
