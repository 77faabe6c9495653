// Functions that all bulk copies share: the write of a copy, and how it changes the existing data.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "simulator/state/block_context.hpp"
#include "simulator/state/bulk_copies.hpp"
#include "simulator/state/cluster.hpp"

namespace convladder::simulated {

/// Tells observers that the copy, which reads `sources`, begins.
void announce(const BulkWrite& write, ptx::Space source_space, std::span<const BulkRead> sources);

/// Sends the data to the mbarrier's block. Nothing is sent if the mbarrier cannot be reached.
void begin_arrival(BulkWrite write, std::uint64_t mbarrier);

/// Whether a bulk copy that begins now reads its source late: see LateRead. Of lanes that begin one and the same copy,
/// any may wait for it, since a GPU makes one of them: theirs read at once.
bool reads_late(const WarpState& warp);

/// The copy is one of those for which its thread waits in groups.
void begin_in_group(BulkWrite write);

/// The blocks of the cluster, each a bit by its rank.
std::uint32_t all_of_cluster(const BlockContext& block);

/// Calls body(destination, mbarrier) with the addresses in each of the blocks of a multicast, whose bits are as in
/// all_of_cluster: both have the same offsets in every block as `to` and `mbarrier`.
template <typename Body>
void for_each_receiver(BlockContext& block, std::uint32_t blocks, std::uint64_t to, std::uint64_t mbarrier,
                       const Body& body) {
  const std::uint64_t to_offset = shared_place(block, to).offset;
  const std::uint64_t mbarrier_offset = shared_place(block, mbarrier).offset;
  for (std::uint32_t left = blocks & 0xffffU; left != 0; left &= left - 1) {
    const auto rank = static_cast<unsigned>(std::countr_zero(left));
    body(cluster_address(rank, to_offset), cluster_address(rank, mbarrier_offset));
  }
}

/// The number, from 1 on, of a reduction such as "add.u32"; 0 if there is none of that name.
int find_bulk_reduction(std::string_view name);
/// Whether the reduction is for global memory only.
bool is_bulk_reduction_global(int reduction);
/// The function of a reduction, or of a copy, whose number is 0. `adds_bits` as in changed_by.
Combine bulk_combine(int reduction, bool adds_bits);

}  // namespace convladder::simulated
