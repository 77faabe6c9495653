// The fast way for nearly all accesses: an instruction reaches memory in the same pattern as before. The cost is then
// known without looking at each lane.
#pragma once

#include "simulator/caches/l1_cache.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {

/// The place of the data of the pattern's first lane, with the access checked as in `reach`; nullptr if something is
/// wrong, which `reach` then handles. `first` is that lane's address.
template <ptx::Space kSpace>
inline std::byte* known_place(const BlockContext& block, const Operation& operation, const LanePattern& pattern,
                              std::uint64_t first, int bytes, AccessKind kind) {
  if constexpr (kSpace == ptx::Space::shared) first -= block.shared_begin;
  if (low_bits_of(first, bytes) != pattern.low_bits || first < pattern.below) return nullptr;
  const std::uint64_t behind = pattern.above + static_cast<std::uint64_t>(bytes);  // both are small
  const auto is_below = [&](std::uint64_t size) { return behind <= size && first <= size - behind; };
  if constexpr (kSpace == ptx::Space::shared) {
    if (!is_below(block.shared.size())) return nullptr;
    return const_cast<std::byte*>(block.shared.data()) + first;
  } else if constexpr (kSpace == ptx::Space::param) {
    if (kind != AccessKind::load || !is_below(block.program->parameter_bytes)) return nullptr;
    return const_cast<std::byte*>(block.parameters) + first;  // only loads come here
  } else {
    static_assert(kSpace == ptx::Space::global || kSpace == ptx::Space::constant);
    const CachedRange& range = block.ranges[operation.instruction];
    if (first - pattern.below < range.begin || !is_below(range.end)) return nullptr;
    return block.memory->host(first);
  }
}

/// As `known_place`, with the access counted as in `reach`.
template <ptx::Space kSpace>
inline std::byte* reach_known(const WarpState& warp, const Operation& operation, KnownPattern& known,
                              std::uint64_t first, int bytes, AccessKind kind) {
  BlockContext& block = *warp.block;
  LanePattern& pattern = *known.pattern;
  std::byte* const at = known_place<kSpace>(block, operation, pattern, first, bytes, kind);
  if (at == nullptr || kSpace == ptx::Space::param) return at;
  InstructionCounters& counters = block.counters[operation.instruction];
  ++counters.requests;
  ++known.uses;
  if constexpr (kSpace == ptx::Space::global) {
    if (!block.is_counted) return at;
    __builtin_prefetch(at);  // it arrives while the caches are looked at
    const LanePattern::Sectors& known_sectors = pattern.sectors[(first >> 2) % pattern.sectors.size()];
    if (known_sectors.mask == 0) [[unlikely]] {
      find_sectors(pattern, first);
    }
    SectorSet sectors;
    sectors.first = (first >> kSectorShift) + static_cast<std::uint64_t>(known_sectors.first);
    sectors.mask = known_sectors.mask;
    counters.sectors += static_cast<std::uint64_t>(std::popcount(sectors.mask));
    if (block.l1 != nullptr) block.l1->access(sectors, kind);
  }
  return at;
}

}  // namespace convladder::simulated
