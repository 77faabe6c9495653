#include "devices/simulated/checkers/race_checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "devices/simulated/instructions/memory/memory_access.hpp"
#include "devices/simulated/instructions/textures/texture_opcode.hpp"
#include "devices/simulated/state/access_cost.hpp"

namespace convladder::simulated {
namespace {

/// 2 (words), or 0 (bytes) if an instruction reaches the space with less than a word.
unsigned unit_shift(const ptx::Kernel& kernel, ptx::Space space) {
  const auto is_narrow = [space](const ptx::Instruction& instruction) {
    const bool is_of_tensor = instruction.opcode.find(".bulk.tensor.") != std::string::npos;
    if (is_of_tensor && space == ptx::Space::global) return true;  // elements that only its tensor map knows
    const bool has_texels = reads_texels(instruction.opcode) || writes_texels(instruction.opcode);
    if (has_texels && space == ptx::Space::global) return true;
    const auto access = parse_memory_access(instruction.opcode);
    return access && access->type.bits < 32 && (access->space == space || access->space == ptx::Space::generic);
  };
  return std::ranges::any_of(kernel.instructions, is_narrow) ? 0 : 2;
}

}  // namespace

RaceChecker::RaceChecker(const Program& program, const std::set<std::uint64_t>& written_allocations,
                         FindingLog& findings)
    : program_(program),
      findings_(findings),
      shared_shift_(unit_shift(*program.kernel, ptx::Space::shared)),
      global_shift_(unit_shift(*program.kernel, ptx::Space::global)) {
  for (const std::uint64_t begin : written_allocations) pieces_[begin] = {begin, begin, {}};
  for (const ptx::Instruction& instruction : program.kernel->instructions) {
    orders_.push_back(memory_order(instruction.opcode));
  }
}

void RaceChecker::block_begins(const BlockContext& block) {
  block_ = static_cast<std::uint32_t>(block.block_number);
  shared_.assign((block.shared.size() >> shared_shift_) + 1, Unit{});
  clock_.fill(1);
  for (auto* const clocks : {&seen_, &fenced_, &read_}) {
    for (Clocks& of_warp : *clocks) of_warp.fill(0);
  }
  released_at_.clear();
  ended_phases_.clear();
  copies_.clear();
  block_fenced_ = false;
  block_acquired_ = false;
}

void RaceChecker::barrier_passed(const BlockContext& /*block*/, std::uint32_t warps) {
  Clocks seen{};
  for (int w = 0; w < kMostWarps; ++w) {
    if (((warps >> w) & 1U) == 0) continue;
    join(seen, seen_[w]);
    seen[w] = std::max(seen[w], clock_[w]);
  }
  for (int w = 0; w < kMostWarps; ++w) {
    if (((warps >> w) & 1U) == 0) continue;
    seen_[w] = seen;
    ++clock_[w];
  }
}

void RaceChecker::warp_synchronized(const WarpState& warp, LaneMask /*lanes*/) {
  seen_[warp.index][warp.index] = clock_[warp.index]++;
}

void RaceChecker::join(Clocks& clocks, const Clocks& other) {
  for (std::size_t i = 0; i < clocks.size(); ++i) clocks[i] = std::max(clocks[i], other[i]);
}

/// What the warp has done and seen so far; what it does from now on is not in it.
RaceChecker::Clocks RaceChecker::released_by(int warp) {
  Clocks clocks = seen_[warp];
  clocks[warp] = clock_[warp]++;
  return clocks;
}

void RaceChecker::fenced(const WarpState& warp, bool for_other_blocks) {
  block_fenced_ = block_fenced_ || for_other_blocks;
  join(seen_[warp.index], read_[warp.index]);
  fenced_[warp.index] = released_by(warp.index);
}

void RaceChecker::copy_begins(std::span<const WarpAccess> sources, std::span<const WarpAccess> destinations,
                              std::uint64_t copy) {
  is_asynchronous_ = true;
  for (const WarpAccess& source : sources) access(source);
  for (const WarpAccess& destination : destinations) access(destination);
  is_asynchronous_ = false;
  const auto own = kMostWarps + static_cast<std::size_t>(destinations.front().warp->index);
  copies_[copy][own] = clock_[own]++;
}

void RaceChecker::copy_arrives(std::uint64_t copy, std::uint64_t mbarrier) {
  join(released_at_[kSharedWindow + mbarrier], copies_[copy]);
  copies_.erase(copy);
}

void RaceChecker::copy_seen(const WarpState& warp, std::uint64_t copy) { join(seen_[warp.index], copies_[copy]); }

void RaceChecker::arrives(const WarpState& warp, std::uint64_t mbarrier) {
  join(released_at_[kSharedWindow + mbarrier], released_by(warp.index));
}

void RaceChecker::phase_ended(const BlockContext& /*block*/, std::uint64_t mbarrier) {
  ended_phases_[mbarrier] = released_at_[kSharedWindow + mbarrier];
}

void RaceChecker::phase_seen(const WarpState& warp, std::uint64_t mbarrier) {
  join(seen_[warp.index], ended_phases_[mbarrier]);
}

/// What a strong access at a place orders.
void RaceChecker::order(const WarpAccess& access, std::uint64_t address) {
  const MemoryOrder order = orders_[static_cast<std::size_t>(access.operation->instruction)];
  const bool is_shared = access.space == ptx::Space::shared;
  const int warp = access.warp->index;
  const bool releases = order == MemoryOrder::release || order == MemoryOrder::acquire_release;
  const bool acquires = order == MemoryOrder::acquire || order == MemoryOrder::acquire_release;
  Clocks& released = released_at_[is_shared ? kSharedWindow + address : address];
  if (access.kind != AccessKind::store) join(acquires ? seen_[warp] : read_[warp], released);
  if (access.kind != AccessKind::load) join(released, releases ? released_by(warp) : fenced_[warp]);
  if (is_shared) return;
  block_acquired_ = true;
  if (releases || block_fenced_) released_.insert(block_);
}

RaceChecker::Piece* RaceChecker::find_piece(std::uint64_t address) {
  if (last_piece_ != nullptr && last_piece_->begin <= address && address < last_piece_->end) return last_piece_;
  const auto above = pieces_.upper_bound(address);
  if (above == pieces_.begin()) return nullptr;
  Piece& piece = std::prev(above)->second;
  if (piece.end > piece.begin && address >= piece.end) return nullptr;
  last_piece_ = &piece;
  return last_piece_;
}

void RaceChecker::access(const WarpAccess& access) {
  const Addresses& addresses = *access.addresses;
  if (access.space == ptx::Space::local) return;  // each thread's own
  if (is_strong(access)) {
    for (LaneMask left = access.mask; left != 0; left &= left - 1) order(access, addresses[std::countr_zero(left)]);
  }
  if (access.space == ptx::Space::shared) {
    for (LaneMask left = access.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (addresses[lane] < program_.reserved_shared_bytes) continue;  // the system's software has ways of its own
      touch(access, lane, addresses[lane] >> shared_shift_, shared_);
    }
    return;
  }
  const BlockContext& block = *access.warp->block;
  for (LaneMask left = access.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    Piece* const piece = find_piece(addresses[lane]);
    if (piece == nullptr) continue;
    if (piece->units.empty()) {
      const Allocation* const allocation = block.memory->find(addresses[lane]);
      if (allocation == nullptr || allocation->begin != piece->begin) continue;
      piece->end = allocation->end;
      piece->units.resize(((piece->end - piece->begin) >> global_shift_) + 1);
    }
    touch(access, lane, (addresses[lane] - piece->begin) >> global_shift_, piece->units);
  }
}

bool RaceChecker::ordered(const Access& earlier, const Access& now) const {
  if (earlier.clock == 0) return true;
  if (earlier.block != now.block) return block_acquired_ && released_.contains(earlier.block);
  if (earlier.thread == now.thread && earlier.is_asynchronous == 0) return true;
  return earlier.clock <= seen_[now.thread / kLanes][clock_index(earlier)];
}

void RaceChecker::touch(const WarpAccess& access, int lane, std::uint64_t offset, std::vector<Unit>& units) {
  const auto thread = static_cast<unsigned>(access.warp->index * kLanes + lane);
  Access now;
  now.block = block_;
  now.instruction = static_cast<std::uint32_t>(access.operation->instruction) & ((1U << 20) - 1);
  now.is_strong = is_strong(access);
  now.is_asynchronous = is_asynchronous_;
  now.thread = thread & 1023U;
  now.clock = clock_[clock_index(now)];
  const unsigned shift = access.space == ptx::Space::shared ? shared_shift_ : global_shift_;
  const std::uint64_t count = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(access.bytes) >> shift);
  for (std::uint64_t i = offset; i < offset + count; ++i) {
    Unit& unit = units[i];
    if (!ordered(unit.writer, now)) check(access, lane, unit.writer, now, true);
    if (access.kind == AccessKind::load) {
      if (ordered(unit.first_reader, now)) {
        unit.first_reader = now;
      } else {
        unit.last_reader = now;
      }
      continue;
    }
    if (!ordered(unit.first_reader, now)) {
      check(access, lane, unit.first_reader, now, false);
    } else if (!ordered(unit.last_reader, now)) {
      check(access, lane, unit.last_reader, now, false);
    }
    unit.writer = now;
  }
}

bool RaceChecker::stores_same_value(const WarpAccess& access, int lane, int other_lane) const {
  const Operation& operation = *access.operation;
  const std::string_view opcode = program_.kernel->instructions[static_cast<std::size_t>(operation.instruction)].opcode;
  const auto store = parse_memory_access(opcode);
  if (!store || !store->is_store) return opcode.starts_with("cp.async.c");  // whose data is no longer known
  const Slot* const elements =
      store->vector_elements == 8 ? program_.operand_lists.data() + operation.list : operation.operands;
  for (int element = 0; element < store->vector_elements; ++element) {
    const Slot slot = elements[element];
    const bool same =
        store->type.bits == 64
            ? access.warp->read<std::uint64_t>(slot)[lane] == access.warp->read<std::uint64_t>(slot)[other_lane]
            : access.warp->read<std::uint32_t>(slot)[lane] == access.warp->read<std::uint32_t>(slot)[other_lane];
    if (!same) return false;
  }
  return true;
}

void RaceChecker::check(const WarpAccess& access, int lane, const Access& earlier, const Access& now,
                        bool earlier_wrote) {
  if (earlier.is_strong != 0 && now.is_strong != 0) return;
  const bool same_instruction = earlier.block == now.block && earlier.instruction == now.instruction &&
                                earlier.thread / kLanes == now.thread / kLanes && earlier.clock == now.clock;
  if (same_instruction && access.kind == AccessKind::store &&
      stores_same_value(access, lane, static_cast<int>(earlier.thread % kLanes))) {
    return;
  }
  const BlockContext& block = *access.warp->block;
  const char* const hazard = !earlier_wrote                    ? "write after read"
                             : access.kind == AccessKind::load ? "read after write"
                                                               : "write after write";
  const int kind = static_cast<int>(earlier.instruction) * 2 + (earlier.block != now.block ? 1 : 0);
  findings_.add({Checker::race, access.operation->instruction, kind}, block.block_number, 1, [&] {
    const ptx::Instruction& other = program_.kernel->instructions[earlier.instruction];
    const Dim3& size = block.block_size;
    const std::string other_line = other.source.line > 0 ? fmt::format("line {}", other.source.line)
                                                         : fmt::format("PTX line {}", other.position.line);
    const std::string other_thread = fmt::format("thread ({}, {}, {})", earlier.thread % size.x,
                                                 earlier.thread / size.x % size.y, earlier.thread / (size.x * size.y));
    const std::string who =
        earlier.block != now.block ? fmt::format("{} of block number {}", other_thread, earlier.block) : other_thread;
    const bool is_global = access.space != ptx::Space::shared;
    const std::uint64_t address = (*access.addresses)[lane];
    const Allocation* const allocation = is_global ? block.memory->find(address) : nullptr;
    const std::string where = allocation != nullptr
                                  ? fmt::format("byte {} of '{}'", address - allocation->begin, allocation->label)
                                  : fmt::format("offset {} of shared memory", address);
    Finding finding = block.finding_at(
        *access.warp, *access.operation, lane, Checker::race,
        fmt::format("{} at {}: not ordered with '{}' at {} by {}", hazard, where, other.opcode, other_line, who));
    finding.space = is_global ? "global" : "shared";
    finding.address = address;
    if (allocation != nullptr) finding.allocation = allocation->label;
    return finding;
  });
}

}  // namespace convladder::simulated
