// The quick way for what nearly all accesses are: all lanes of a warp take part, and their addresses are the same or
// equally far from each other. What they cost is then known without a look at each of them.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include "devices/simulated/caches/l1_cache.hpp"
#include "devices/simulated/state/block_context.hpp"

namespace convladder::simulated {

/// Addresses of all 32 lanes, each `step` bytes behind the one before, or before it.
struct AddressRow {
  std::uint64_t first = 0;
  std::int64_t step = 0;

  std::uint64_t last() const { return first + static_cast<std::uint64_t>((kLanes - 1) * step); }
};

/// The addresses of an operation if they are a row of accesses of `bytes`: all lanes take part, and the step is `bytes`
/// or zero, in shared memory any that `has_row_wavefronts` knows. `base` are those of the lanes without the
/// operation's offset, which is added as in `lane_addresses`.
template <ptx::Space kSpace, typename Address>
std::optional<AddressRow> address_row(const WarpState& warp, const Operation& operation, const Address* base,
                                      int bytes) {
  if (warp.mask != kAllLanes) return std::nullopt;
  const auto difference = static_cast<Address>(base[1] - base[0]);
  const auto step = static_cast<std::int64_t>(static_cast<std::make_signed_t<Address>>(difference));
  constexpr bool kAnyStep = kSpace == ptx::Space::shared;
  if (kAnyStep ? !has_row_wavefronts(step, bytes) : step != 0 && step != bytes) return std::nullopt;
  Address other = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    other |= static_cast<Address>(base[lane] - base[0] - static_cast<Address>(lane) * difference);
  }
  if (other != 0) return std::nullopt;
  return AddressRow{static_cast<Address>(base[0] + static_cast<Address>(operation.offset)), step};
}

/// Where the first lane's data lies, with the access checked and counted as `reach` does; nullptr if `reach` has to see
/// to it, because something is wrong with it or somebody observes.
template <ptx::Space kSpace>
std::byte* reach_row(const WarpState& warp, const Operation& operation, AddressRow row, int bytes, AccessKind kind) {
  BlockContext& block = *warp.block;
  const auto length = static_cast<std::uint64_t>(bytes);
  if (!block.observers.empty() || (row.first & (length - 1)) != 0) return nullptr;
  InstructionCounters& counters = block.counters[operation.instruction];
  const auto is_below = [&](std::uint64_t size) {
    const std::uint64_t highest = std::max(row.first, row.last());  // a row that wraps has a high one
    return highest <= size && length <= size - highest;
  };
  std::byte* at = nullptr;
  if constexpr (kSpace == ptx::Space::shared) {
    if (!is_below(block.shared.size())) return nullptr;
    const Wavefronts wavefronts = count_row_wavefronts(row.step, bytes);
    counters.wavefronts += wavefronts.needed;
    counters.ideal_wavefronts += wavefronts.ideal;
    at = block.shared.data() + row.first;
  } else if constexpr (kSpace == ptx::Space::param) {
    if (kind != AccessKind::load || !is_below(block.program->parameter_bytes)) return nullptr;
    return const_cast<std::byte*>(block.parameters) + row.first;  // only loads come here
  } else {
    static_assert(kSpace == ptx::Space::global || kSpace == ptx::Space::constant);
    const CachedRange& cached = block.ranges[operation.instruction];
    if (row.first < cached.begin || row.last() < row.first || row.last() > cached.end ||
        length > cached.end - row.last()) {
      return nullptr;
    }
    at = block.memory->host(row.first);
    __builtin_prefetch(at);  // it comes while the caches are looked at
    __builtin_prefetch(at + 64);
    if constexpr (kSpace == ptx::Space::constant) {
      if (row.step != 0) return nullptr;
      ++counters.wavefronts;
    } else {
      SectorSet sectors;
      sectors.first = row.first >> kSectorShift;
      const std::uint64_t count = (row.last() >> kSectorShift) - sectors.first + 1;
      sectors.mask = (std::uint64_t{2} << (count - 1)) - 1;
      counters.sectors += count;
      if (block.l1 != nullptr) block.l1->access(sectors, kind);
    }
  }
  ++counters.requests;
  counters.bytes += length * kLanes;
  return at;
}

}  // namespace convladder::simulated
