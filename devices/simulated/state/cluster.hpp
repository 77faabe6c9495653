// The blocks of a cluster, which reach each other's shared memory (PTX ISA 9.0, 2.2.1 and 5.1.5).
//
// An address in shared::cluster is an offset in the own block's shared memory, or, as mapa makes it, one in that of the
// block of a rank, with the rank above its bits. In generic addresses it lies in the window of shared memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "devices/simulated/state/block_context.hpp"

namespace convladder::simulated {

/// What lies where in an address of shared::cluster.
struct ClusterAddress {
  static constexpr unsigned kRankShift = 24;  // a block has less than 2^24 bytes
  static constexpr std::uint64_t kMostRanks = 16;

  std::uint64_t offset = 0;
  std::optional<unsigned> rank;  ///< none: the own block

  static std::uint64_t of(unsigned rank, std::uint64_t offset) {
    return (std::uint64_t{rank + 1} << kRankShift) | offset;
  }
  static ClusterAddress read(std::uint64_t address) {
    const std::uint64_t above = address >> kRankShift;
    if (above == 0 || above > kMostRanks) return {address, std::nullopt};
    return {address & ((std::uint64_t{1} << kRankShift) - 1), static_cast<unsigned>(above - 1)};
  }
};

struct Cluster {
  Dim3 size;                          ///< blocks
  std::vector<BlockContext*> blocks;  ///< by rank
};

}  // namespace convladder::simulated
