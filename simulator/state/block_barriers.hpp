// The sixteen barriers of a block, that of its cluster, and the places where four warps make a product of matrices:
// which warps have arrived, and the results of reductions (PTX ISA 9.0, 9.7.13.1: barrier; 9.7.13.3: barrier.cluster;
// 9.7.15: wgmma).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "simulator/state/operation.hpp"

namespace convladder::simulated {

/// The action of a warp at a barrier: Operation::detail of a barrier.
enum class BarrierAction : int { wait, arrive, count, all, any, wait_without_arriving };

/// A barrier counts warps: each arrives with 32 threads, however many it has.
class BlockBarriers {
 public:
  static constexpr std::uint32_t kCount = 16;  ///< barriers that a kernel names by their numbers
  static constexpr std::uint32_t kOfCluster = kCount;
  static constexpr std::uint32_t kOfGroups = kOfCluster + 1;  ///< that of the first four warps; others follow
  static constexpr std::uint32_t kMostWarps = 32;             // of a block: 1024 threads
  static constexpr std::uint32_t kWarpsOfGroup = 4;

  struct Arrival {
    std::uint32_t barrier = 0;
    std::uint32_t threads = 0;  ///< awaited in all; 0 for all threads of the block that have not exited
    int warp = 0;
    LaneMask lanes = 0;
    LaneMask predicate = 0;  ///< of a reduction
  };

  /// Begins a block of that many warps.
  void begin_block(int warps);
  /// The number of threads that the barrier is already awaited with, if that is different (0 for all of the block).
  /// Then nothing has arrived.
  struct Mismatch {
    bool is_one = false;
    std::uint32_t threads = 0;
  };
  Mismatch arrive(const Arrival& arrival);
  /// Whether the warp has arrived and others are still awaited.
  bool is_awaited_by(std::uint32_t barrier, int warp) const { return ((barriers_[barrier].warps >> warp) & 1U) != 0; }
  /// The threads of the block that belong to the four warps of this one.
  std::uint32_t threads_of_group(int warp) const {
    const std::uint32_t group = static_cast<std::uint32_t>(warp) / kWarpsOfGroup * kWarpsOfGroup;
    return kLanes * static_cast<std::uint32_t>(std::popcount(warps_ >> group & ((1U << kWarpsOfGroup) - 1)));
  }
  /// Notes that all threads of a warp have exited: nobody waits for them any more.
  void exit_warp(int warp) { exited_ |= std::uint32_t{1} << warp; }

  bool in_use(std::uint32_t barrier) const { return barriers_[barrier].arrived != 0; }
  /// Whether all awaited threads have arrived.
  bool is_complete(std::uint32_t barrier) const;
  /// The result of a reduction: for the predicate forms, a true result has all bits set.
  std::uint32_t result(std::uint32_t barrier, BarrierAction action) const;
  /// Frees the barrier; returns the warps that met at it, a bit for each.
  std::uint32_t release(std::uint32_t barrier);
  /// Describes a barrier: "barrier 1, where 32 of 64 threads have arrived".
  std::string describe(std::uint32_t barrier) const;

 private:
  struct Barrier {
    std::uint32_t threads = 0;
    std::uint32_t arrived = 0;  ///< threads
    std::uint32_t warps = 0;
    std::uint32_t count = 0;  ///< number of true predicates
    bool all = true;
    bool any = false;
  };
  std::array<Barrier, kOfGroups + kMostWarps / kWarpsOfGroup> barriers_;
  std::uint32_t warps_ = 0;   // of the block, a bit for each
  std::uint32_t exited_ = 0;  // the warps that have exited
};

}  // namespace convladder::simulated
