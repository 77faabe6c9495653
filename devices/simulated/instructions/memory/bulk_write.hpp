// What all bulk copies share: the write that a copy becomes, and what it does to the data that is there.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "devices/simulated/state/block_context.hpp"
#include "devices/simulated/state/bulk_copies.hpp"

namespace convladder::simulated {

/// A piece of memory that a copy reads.
struct BulkRead {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

/// Tells observers that the copy begins; it reads `sources`.
void announce(const BulkWrite& write, ptx::Space source_space, std::span<const BulkRead> sources);

/// The data goes to the mbarrier's block. Nothing is under way if the mbarrier cannot be reached.
void begin_arrival(BulkWrite write, std::uint64_t mbarrier);

/// The number of a reduction, "add.u32", from 1 on; 0 if there is none of that name.
int find_bulk_reduction(std::string_view name);
/// Whether it is for global memory only.
bool is_bulk_reduction_global(int reduction);
/// What a reduction does, or a copy, whose number is 0.
Combine bulk_combine(int reduction);

template <typename Body>
void for_each_lane(const WarpState& warp, const Body& body) {
  for (LaneMask left = warp.mask; left != 0; left &= left - 1) body(std::countr_zero(left));
}

}  // namespace convladder::simulated
