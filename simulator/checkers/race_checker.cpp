#include "simulator/checkers/race_checker.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "simulator/instructions/memory/memory_access.hpp"
#include "simulator/instructions/textures/texture_opcode.hpp"
#include "simulator/memory/warp_access.hpp"

namespace convladder::simulated {
namespace {

/// The shift of a unit: 2 (words), or 0 (bytes) if an instruction reaches the space with less than a word.
unsigned unit_shift(const ptx::Kernel& kernel, ptx::Space space) {
  const auto is_narrow = [space](const ptx::Instruction& instruction) {
    const bool is_of_tensor = instruction.opcode.find(".bulk.tensor.") != std::string::npos;
    if (is_of_tensor && space == ptx::Space::global) return true;  // only the tensor map knows the elements
    const bool has_texels = reads_texels(instruction.opcode) || writes_texels(instruction.opcode);
    if (has_texels && space == ptx::Space::global) return true;
    const auto access = parse_memory_access(instruction.opcode);
    return access && access->type.bits < 32 && (access->space == space || access->space == ptx::Space::generic);
  };
  return std::ranges::any_of(kernel.instructions, is_narrow) ? 0 : 2;
}

/// Loads of exactly the place at which the kernel compares and swaps. The loop of the CUDA C++ Programming Guide begins
/// with one, and so do CUDA's own atomics of types that the GPU has none for: the load is a guess, which the swap
/// checks.
std::vector<bool> guesses_of_swaps(const ptx::Kernel& kernel) {
  const auto place = [](const ptx::Operand& address) {
    return std::tuple(address.index, std::string_view(address.name), address.offset);
  };
  std::set<std::tuple<int, std::string_view, std::int64_t>> swapped;
  for (const ptx::Instruction& instruction : kernel.instructions) {
    const bool swaps = instruction.opcode.starts_with("atom.") && instruction.opcode.find(".cas.") != std::string::npos;
    if (swaps) swapped.insert(place(instruction.operands[1]));
  }
  std::vector<bool> guesses;
  for (const ptx::Instruction& instruction : kernel.instructions) {
    const auto access = swapped.empty() ? std::nullopt : parse_memory_access(instruction.opcode);
    guesses.push_back(access && !access->is_store && swapped.contains(place(instruction.operands[1])));
  }
  return guesses;
}

}  // namespace

RaceChecker::RaceChecker(const Program& program, const std::set<std::uint64_t>& written_allocations,
                         FindingLog& findings)
    : program_(program),
      findings_(findings),
      guesses_(guesses_of_swaps(*program.kernel)),
      shared_shift_(unit_shift(*program.kernel, ptx::Space::shared)),
      global_shift_(unit_shift(*program.kernel, ptx::Space::global)) {
  for (const std::uint64_t begin : written_allocations) pieces_[begin] = {begin, begin, {}};
  for (const ptx::Instruction& instruction : program.kernel->instructions) {
    orders_.push_back(memory_order(instruction.opcode));
    is_product_.push_back(instruction.opcode.starts_with("wgmma.mma"));
  }
}

void RaceChecker::enter(const BlockContext& block) {
  if (&block == last_) return;
  last_ = &block;
  now_ = &blocks_[&block];
}

void RaceChecker::block_begins(const BlockContext& block) {
  enter(block);
  forget_shared(now_->shared);
  *now_ = {};
  now_->number = static_cast<std::uint32_t>(block.block_number);
  now_->cluster = block.cluster;
  now_->shared.resize((block.shared.size() >> shared_shift_) + 1);
  now_->clock.fill(1);
}

void RaceChecker::products_committed(const WarpState& warp) {
  enter(*warp.block);
  ++now_->committed[warp.index];
}

void RaceChecker::products_waited_for(const WarpState& warp, std::uint32_t left) {
  enter(*warp.block);
  const std::uint32_t committed = now_->committed[warp.index];
  std::uint32_t& seen = now_->seen[warp.index][kFirstGroup + warp.index / kWarpsOfGroup];
  if (committed > left) seen = std::max(seen, committed - left);
}

void RaceChecker::cluster_met(const Cluster& cluster) {
  for (const BlockContext* const block : cluster.blocks) {
    OfBlock& of_block = blocks_[block];
    for (int w = 0; w < kMostWarps; ++w) {
      join(of_block.for_cluster, of_block.seen[w]);
      of_block.for_cluster[w] = of_block.clock[w]++;
    }
  }
}

void RaceChecker::barrier_passed(const BlockContext& block, std::uint32_t warps) {
  enter(block);
  Clocks seen{};
  for (int w = 0; w < kMostWarps; ++w) {
    if (((warps >> w) & 1U) == 0) continue;
    join(seen, now_->seen[w]);
    seen[w] = std::max(seen[w], now_->clock[w]);
  }
  for (int w = 0; w < kMostWarps; ++w) {
    if (((warps >> w) & 1U) == 0) continue;
    now_->seen[w] = seen;
    ++now_->clock[w];
  }
}

void RaceChecker::warp_synchronized(const WarpState& warp, LaneMask /*lanes*/) {
  enter(*warp.block);
  now_->seen[warp.index][warp.index] = now_->clock[warp.index]++;
}

void RaceChecker::join(Clocks& clocks, const Clocks& other) {
  for (std::size_t i = 0; i < clocks.size(); ++i) clocks[i] = std::max(clocks[i], other[i]);
}

/// The clocks of everything that the warp has done and seen so far; its later accesses get a new clock.
RaceChecker::Clocks RaceChecker::released_by(int warp) {
  Clocks clocks = now_->seen[warp];
  clocks[warp] = now_->clock[warp]++;
  return clocks;
}

void RaceChecker::fenced(const WarpState& warp, bool for_other_blocks) {
  enter(*warp.block);
  now_->has_fenced = now_->has_fenced || for_other_blocks;
  join(now_->seen[warp.index], now_->read[warp.index]);
  now_->fenced[warp.index] = released_by(warp.index);
}

void RaceChecker::copy_begins(std::span<const WarpAccess> sources, std::span<const WarpAccess> destinations,
                              std::uint64_t copy) {
  enter(*destinations.front().warp->block);
  is_asynchronous_ = true;
  for (const WarpAccess& source : sources) access(source);
  for (const WarpAccess& destination : destinations) access(destination);
  is_asynchronous_ = false;
  const auto own = kMostWarps + static_cast<std::size_t>(destinations.front().warp->index);
  now_->copies[copy][own] = now_->clock[own]++;
}

void RaceChecker::copy_arrives(const BlockContext& block, std::uint64_t copy, const BlockContext& owner,
                               std::uint64_t mbarrier) {
  enter(block);
  join(&owner == &block ? now_->released_at[kSharedWindow + mbarrier] : now_->for_cluster, now_->copies[copy]);
  now_->copies.erase(copy);
}

void RaceChecker::copy_seen(const WarpState& warp, std::uint64_t copy) {
  enter(*warp.block);
  join(now_->seen[warp.index], now_->copies[copy]);
}

void RaceChecker::arrives(const WarpState& warp, std::uint64_t mbarrier) {
  enter(*warp.block);
  join(now_->released_at[kSharedWindow + mbarrier], released_by(warp.index));
}

void RaceChecker::phase_ended(const BlockContext& block, std::uint64_t mbarrier) {
  enter(block);
  now_->ended_phases[mbarrier] = now_->released_at[kSharedWindow + mbarrier];
}

void RaceChecker::phase_seen(const WarpState& warp, std::uint64_t mbarrier) {
  enter(*warp.block);
  join(now_->seen[warp.index], now_->ended_phases[mbarrier]);
}

/// Records the order that a strong access at a place establishes.
void RaceChecker::order(const WarpAccess& access, std::uint64_t address) {
  const MemoryOrder order = orders_[static_cast<std::size_t>(access.operation->instruction)];
  const bool is_shared = access.space == ptx::Space::shared;
  const int warp = access.warp->index;
  const bool releases = order == MemoryOrder::release || order == MemoryOrder::acquire_release;
  const bool acquires = order == MemoryOrder::acquire || order == MemoryOrder::acquire_release;
  if (access.kind != AccessKind::load && now_->cluster != nullptr) {
    join(now_->for_cluster, releases ? released_by(warp) : now_->fenced[warp]);
  }
  if (access.owner != nullptr && access.owner != access.warp->block) return;
  Clocks& released = now_->released_at[is_shared ? kSharedWindow + address : address];
  if (access.kind != AccessKind::store) join(acquires ? now_->seen[warp] : now_->read[warp], released);
  if (access.kind != AccessKind::load) join(released, releases ? released_by(warp) : now_->fenced[warp]);
  if (is_shared) return;
  now_->has_acquired = true;
  if (releases || now_->has_fenced) released_.insert(now_->number);
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
  if (access.space == ptx::Space::local) return;  // local memory is each thread's own
  enter(*access.warp->block);
  if (!now_->late_loads.empty() && access.kind == AccessKind::store) store_late_values(access);
  if (is_strong(access)) {
    for (LaneMask left = access.mask; left != 0; left &= left - 1) order(access, addresses[std::countr_zero(left)]);
  }
  if (access.space == ptx::Space::shared) {
    const bool is_own = access.owner == nullptr || access.owner == access.warp->block;
    std::vector<Unit>& units = is_own ? now_->shared : blocks_[access.owner].shared;
    for (LaneMask left = access.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (addresses[lane] < program_.reserved_shared_bytes) continue;  // the system's software has its own ordering
      touch(access, lane, addresses[lane] >> shared_shift_, units);
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

bool RaceChecker::ordered_in_cluster(const Access& earlier) const {
  if (now_->cluster == nullptr) return false;
  for (const BlockContext* const block : now_->cluster->blocks) {
    if (block->block_number != earlier.block) continue;
    return earlier.clock <= blocks_.at(block).for_cluster[clock_index(earlier)];
  }
  return false;
}

bool RaceChecker::ordered(const Access& earlier, const Access& now) const {
  if (earlier.clock == 0) return true;
  if (earlier.block != now.block) {
    return (now_->has_acquired && released_.contains(earlier.block)) || ordered_in_cluster(earlier);
  }
  if (earlier.thread == now.thread && earlier.is_asynchronous == 0) return true;
  return earlier.clock <= now_->seen[now.thread / kLanes][clock_index(earlier)];
}

void RaceChecker::touch(const WarpAccess& access, int lane, std::uint64_t offset, std::vector<Unit>& units) {
  const auto thread = static_cast<unsigned>(access.warp->index * kLanes + lane);
  const auto instruction = static_cast<std::size_t>(access.operation->instruction);
  Access now;
  now.block = now_->number;
  now.instruction = static_cast<std::uint32_t>(instruction) & ((1U << 18) - 1);
  now.is_strong = is_strong(access) || guesses_[instruction];
  now.is_asynchronous = is_asynchronous_ || is_product_[instruction];
  now.thread = thread & 1023U;
  now.clock = is_product_[instruction] ? now_->committed[access.warp->index] + 1 : now_->clock[clock_index(now)];
  const unsigned shift = access.space == ptx::Space::shared ? shared_shift_ : global_shift_;
  const std::uint64_t count = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(access.bytes) >> shift);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Touch touch{access, lane, i << shift, std::uint64_t{1} << shift, now};
    if (access.kind == AccessKind::load) {
      read(touch, units[offset + i]);
    } else {
      write(touch, units[offset + i]);
    }
  }
}

void RaceChecker::read(const Touch& touch, Unit& unit) {
  if (!ordered(unit.writer, touch.now)) judge_read_after_write(touch, unit);
  if (unit.writer.is_disputed != 0) settle(unit, true);
  (ordered(unit.first_reader, touch.now) ? unit.first_reader : unit.last_reader) = touch.now;
}

void RaceChecker::write(const Touch& touch, Unit& unit) {
  Access now = touch.now;
  const bool is_read_as_well = touch.access.kind == AccessKind::atomic;
  WriteRace race = WriteRace::none;
  if (!ordered(unit.writer, now)) race = judge_write_after_write(touch, unit, now);
  if (race == WriteRace::none && unit.writer.is_disputed != 0) settle(unit, is_read_as_well);
  if (race == WriteRace::none && unit.writer.is_repeated != 0) repeated_.erase(&unit);
  if (race != WriteRace::equal) {  // readers of an equal value are those of this one
    if (!ordered(unit.first_reader, now)) {
      judge_write_after_read(touch, unit.first_reader);
    } else if (!ordered(unit.last_reader, now)) {
      judge_write_after_read(touch, unit.last_reader);
    }
  }
  unit.writer = now;
}

}  // namespace convladder::simulated
