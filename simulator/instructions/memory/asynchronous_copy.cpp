// cp.async: copies from global to shared memory that the thread waits for (PTX ISA 9.0, 9.7.9.25).
//
// The source is read when the instruction is executed, and shared memory changes when the thread waits for the copy,
// no sooner: hardware may be faster, and a program that relies on that is wrong. Copies never waited for never arrive.
// Counters of the instruction: the read as a load from global memory, the write's wavefronts when it arrives.

#include "simulator/state/asynchronous_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "simulator/caches/l1_cache.hpp"
#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/state/cluster.hpp"
#include "simulator/state/global_place.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {

void PendingCopies::clear() {
  copies_.clear();
  groups_.fill(0);
  begun_ = 0;
}

PendingCopies::Copy& PendingCopies::begin(LaneMask lanes) {
  Copy& copy = copies_.emplace_back();
  copy.mask = lanes;
  copy.number = begun_++;
  copy.group = groups_;
  return copy;
}

void PendingCopies::commit(LaneMask lanes) {
  for (LaneMask left = lanes; left != 0; left &= left - 1) ++groups_[std::countr_zero(left)];
}

namespace {

enum Fault { kBadSize = 102, kMisalignedSource };  // in addition to faults of accesses

/// Bits of Operation::detail; the size of a copy is its vector_elements.
enum Detail { kWideDestination = 1, kWideSource = 2, kPastL1 = 4, kIgnoresSource = 8 };

/// Reads `bytes` of each lane's source.
void read_source(WarpState& warp, const Operation& operation, Addresses addresses, int bytes,
                 PendingCopies::Copy& copy) {
  BlockContext& block = *warp.block;
  fill_inactive(addresses, warp.mask);
  L1Cache* const l1 = block.l1;
  const bool past_l1 = (operation.detail & kPastL1) != 0;
  if (past_l1) block.l1 = nullptr;
  const LanePlaces places = reach<ptx::Space::global>(warp, operation, addresses, bytes, AccessKind::load);
  block.l1 = l1;
  if (past_l1 && l1 != nullptr && places.mask != 0) {
    fill_inactive(addresses, places.mask);
    l1->load_past(sectors_of(addresses, address_span(addresses)));
  }
  for (LaneMask left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::memcpy(copy.data[lane].data(), places.at[lane], static_cast<std::size_t>(bytes));
  }
}

/// The number of bytes that each lane reads; the rest of its copy is zero.
std::array<int, kLanes> source_bytes(const WarpState& warp, const Operation& operation, int bytes) {
  std::array<int, kLanes> sizes;
  if ((operation.detail & kIgnoresSource) != 0) {
    const LaneMask ignored = *warp.read<LaneMask>(operation.operands[3]);
    for (int lane = 0; lane < kLanes; ++lane) sizes[lane] = ((ignored >> lane) & 1U) != 0 ? 0 : bytes;
    return sizes;
  }
  const auto* const given = warp.read<std::uint32_t>(operation.operands[2]);
  LaneMask too_many = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    too_many |= LaneMask{given[lane] > static_cast<std::uint32_t>(bytes)} << lane;
    sizes[lane] = static_cast<int>(std::min(given[lane], static_cast<std::uint32_t>(bytes)));
  }
  too_many &= warp.mask;
  if (too_many != 0) {
    warp.block->fault(warp, operation, Checker::memory, kBadSize, too_many, [&](int lane) {
      return warp.block->finding_at(warp, operation, lane, Checker::memory,
                                    fmt::format("a source of {} bytes for a copy of {}", given[lane], bytes));
    });
  }
  return sizes;
}

/// Checks that a source is aligned to the whole copy, however little of it is read.
void check_source_alignment(const WarpState& warp, const Operation& operation, const Addresses& sources, int bytes) {
  LaneMask wrong = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    wrong |= LaneMask{sources[lane] % static_cast<std::uint64_t>(bytes) != 0} << lane;
  }
  wrong &= warp.mask;
  if (wrong == 0) return;
  warp.block->fault(warp, operation, Checker::memory, kMisalignedSource, wrong, [&](int lane) {
    std::string label;
    const std::string place = global_place(*warp.block->memory, sources[lane], label);
    Finding finding = warp.block->finding_at(
        warp, operation, lane, Checker::memory,
        fmt::format("misaligned source of a copy of {} bytes at 0x{:x}, {}", bytes, sources[lane], place));
    finding.allocation = label;
    finding.space = "global";
    finding.address = sources[lane];
    return finding;
  });
}

/// Tells observers where the copies will write; lanes that copy what is there already change nothing.
void announce(const WarpState& warp, const PendingCopies::Copy& copy) {
  const BlockContext& block = *warp.block;
  if (block.observers.empty()) return;
  const auto bytes = static_cast<std::size_t>(copy.bytes);
  LaneMask changing = 0;
  for (LaneMask left = copy.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t to = copy.destinations[lane];
    if (to > block.shared.size() || bytes > block.shared.size() - to || to % bytes != 0)
      continue;  // told when it lands
    const bool is_equal = std::memcmp(block.shared.data() + to, copy.data[lane].data(), bytes) == 0;
    if (!is_equal) changing |= LaneMask{1} << lane;
  }
  if (changing == 0) return;
  for (AccessObserver* const observer : block.observers) {
    observer->copies_come({copy.operation,
                           &warp,
                           ptx::Space::shared,
                           &copy.destinations,
                           changing,
                           copy.bytes,
                           AccessKind::store,
                           nullptr,
                           {copy.data[0].data(), PendingCopies::kMostBytes}});
  }
}

/// Operands: destination, source, source size, ignore-source, the destination's offset. `offset` is the source's.
void begin_copy(WarpState& warp, const Operation& operation) {
  const int bytes = operation.vector_elements;
  const LaneMask all = warp.mask;
  PendingCopies::Copy& copy = warp.block->copies[static_cast<std::size_t>(warp.index)].begin(all);
  copy.operation = &operation;
  copy.bytes = bytes;
  Operation destination;  // with an offset of its own
  destination.offset = static_cast<std::int64_t>(*warp.read<std::uint64_t>(operation.operands[4]));
  copy.destinations =
      lane_addresses(warp, destination, operation.operands[0], (operation.detail & kWideDestination) != 0);
  if (warp.block->cluster != nullptr) make_own_offsets(*warp.block, operation, copy.destinations);
  const Addresses sources =
      lane_addresses(warp, operation, operation.operands[1], (operation.detail & kWideSource) != 0);
  const std::array<int, kLanes> sizes = source_bytes(warp, operation, bytes);
  LaneMask left = all;
  for (int size = bytes; size > 0 && left != 0; --size) {
    LaneMask lanes = 0;
    for (int lane = 0; lane < kLanes; ++lane) lanes |= LaneMask{sizes[lane] == size} << lane;
    warp.mask = lanes & left;
    left &= ~lanes;
    if (warp.mask != 0 && size < bytes) check_source_alignment(warp, operation, sources, bytes);
    if (warp.mask != 0) read_source(warp, operation, sources, size, copy);
  }
  warp.mask = all;
  announce(warp, copy);
  Schedule* const schedule = warp.block->schedule;
  if (schedule != nullptr && schedule->lands_at_once()) land_copies(warp, all, copy.number + 1);
}

/// Writes the landed bytes of a copy to shared memory.
void land(WarpState& warp, const PendingCopies::Copy& copy, LaneMask lanes) {
  BlockContext& block = *warp.block;
  InstructionCounters& counters = block.counters[copy.operation->instruction];
  const std::uint64_t requests = counters.requests;
  const std::uint64_t bytes = counters.bytes;
  warp.mask = lanes;
  Addresses addresses = copy.destinations;
  fill_inactive(addresses, lanes);
  const LanePlaces places = reach<ptx::Space::shared>(warp, *copy.operation, addresses, copy.bytes, AccessKind::store,
                                                      {copy.data[0].data(), PendingCopies::kMostBytes});
  for (LaneMask left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::memcpy(places.at[lane], copy.data[lane].data(), static_cast<std::size_t>(copy.bytes));
  }
  counters.requests = requests;  // one request, its bytes counted when they were read
  counters.bytes = bytes;
  ++block.memory_changes;
}

void land_groups(WarpState& warp, std::uint32_t groups_left) {
  const LaneMask all = warp.mask;
  warp.block->copies[static_cast<std::size_t>(warp.index)].wait(
      all, groups_left, [&](const PendingCopies::Copy& copy, LaneMask lanes) { land(warp, copy, lanes); });
  warp.mask = all;
}

void commit_group(WarpState& warp, const Operation& /*operation*/) {
  warp.block->copies[static_cast<std::size_t>(warp.index)].commit(warp.mask);
}

void wait_group(WarpState& warp, const Operation& operation) {
  land_groups(warp, static_cast<std::uint32_t>(operation.detail));
}

void wait_all(WarpState& warp, const Operation& operation) {
  commit_group(warp, operation);
  land_groups(warp, 0);
}

bool is_copy(const std::vector<std::string_view>& parts, bool& past_l1, bool& has_policy) {
  if (parts.size() < 5 || parts[0] != "cp" || parts[1] != "async" || (parts[2] != "ca" && parts[2] != "cg")) {
    return false;
  }
  past_l1 = parts[2] == "cg";
  std::string spaces;
  for (std::size_t i = 3; i < parts.size(); ++i) {
    if (!parts[i].starts_with("L2::")) spaces += fmt::format(".{}", parts[i]);
    has_policy = has_policy || parts[i] == "L2::cache_hint";
  }
  return spaces == ".shared.global" || spaces == ".shared::cta.global";
}

void decode_copy(InstructionDecoder& decoder, bool past_l1, bool has_policy) {
  std::vector<ptx::Operand> operands = decoder.instruction().operands;
  if (has_policy) {
    if (operands.size() < 4) decoder.fail("the cache policy is missing");
    decoder.read(operands.back(), 64);  // the cache policy changes no value
    operands.pop_back();
  }
  if (operands.size() != 3 && operands.size() != 4) {
    decoder.fail(fmt::format("expected 3 or 4 operands, found {}", operands.size()));
  }
  const bool is_size = operands[2].kind == ptx::OperandKind::immediate;
  const std::uint64_t size = is_size ? operands[2].bits : 0;
  if (size != 16 && (past_l1 || (size != 4 && size != 8))) {
    decoder.fail(past_l1 ? "the size must be 16" : "the size must be 4, 8 or 16");
  }
  Operation destination;
  Operation operation;
  operation.handler = begin_copy;
  operation.vector_elements = static_cast<std::uint8_t>(size);
  const auto [to, wide_to] = decoder.address(operands[0], ptx::Space::shared, destination);
  const auto [from, wide_from] = decoder.address(operands[1], ptx::Space::global, operation);
  operation.operands[0] = to;
  operation.operands[1] = from;
  operation.detail = (wide_to ? kWideDestination : 0) | (wide_from ? kWideSource : 0) | (past_l1 ? kPastL1 : 0);
  operation.operands[4] = decoder.constant(static_cast<std::uint64_t>(destination.offset), 64);
  const bool is_predicate = operands.size() == 4 && operands[3].kind == ptx::OperandKind::register_ &&
                            decoder.register_bits(operands[3]) == 1;
  if (is_predicate) {
    operation.operands[3] = decoder.read(operands[3], 1);
    operation.detail |= kIgnoresSource;
  } else {
    operation.operands[2] = operands.size() == 4 ? decoder.read(operands[3], 32) : decoder.constant(size, 32);
  }
  decoder.emit(operation);
}

}  // namespace

void land_copies(WarpState warp, LaneMask lanes, std::uint64_t begun) {
  warp.block->copies[static_cast<std::size_t>(warp.index)].wait_for_begun(
      lanes, begun, [&](const PendingCopies::Copy& copy, LaneMask landing) { land(warp, copy, landing); });
}

bool decode_asynchronous_copy(InstructionDecoder& decoder) {
  const std::string& opcode = decoder.instruction().opcode;
  bool past_l1 = false;
  bool has_policy = false;
  if (is_copy(ptx::split_opcode(opcode), past_l1, has_policy)) {
    decode_copy(decoder, past_l1, has_policy);
  } else if (opcode == "cp.async.commit_group") {
    decoder.expect_operands(0);
    decoder.emit(commit_group, {});
  } else if (opcode == "cp.async.wait_all") {
    decoder.expect_operands(0);
    decoder.emit(wait_all, {});
  } else if (opcode == "cp.async.wait_group") {
    decoder.expect_operands(1);
    const ptx::Operand& left = decoder.instruction().operands[0];
    if (left.kind != ptx::OperandKind::immediate || left.bits > 1U << 30) decoder.fail("expected a number of groups");
    Operation operation;
    operation.handler = wait_group;
    operation.detail = static_cast<int>(left.bits);
    decoder.emit(operation);
  } else {
    return false;
  }
  return true;
}

}  // namespace convladder::simulated
