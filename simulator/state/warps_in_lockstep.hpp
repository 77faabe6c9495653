// Warps of a block that carry out the same operations together, each operation for all of them before the next: the
// cost of finding the operation and its operands is then paid only once.
//
// This differs from the order of one warp after another, and is only for launches that are neither counted nor
// observed: see BlockRunner::run_in_lockstep.
#pragma once

#include <array>
#include <cstddef>

#include "simulator/state/operation.hpp"

namespace convladder::simulated {

struct WarpsInLockstep {
  static constexpr int kMost = 8;  ///< so that their registers fit into the host's first-level cache

  int count = 0;
  std::array<WarpState*, kMost> warps;        ///< each with the mask of its active lanes
  std::array<LaneMask, kMost> active{};       ///< the masks of active lanes
  std::array<std::ptrdiff_t, kMost> apart{};  ///< bytes from the first warp's registers to those of each
};

/// An operand in each of several warps.
template <typename T>
class OperandInLockstep {
 public:
  OperandInLockstep(const WarpsInLockstep& group, Slot slot)
      : first_(reinterpret_cast<std::uintptr_t>(group.warps[0]->read<T>(slot))),
        mask_(slot.is_constant() ? 0 : ~std::uintptr_t{0}) {}
  /// `apart` belongs to the warp asked for.
  T* of(std::ptrdiff_t apart) const {
    return reinterpret_cast<T*>(first_ + (static_cast<std::uintptr_t>(apart) & mask_));
  }

 private:
  std::uintptr_t first_;
  std::uintptr_t mask_;
};

/// Carries out a plain operation without a guard for all warps.
using LockstepHandler = void (*)(const WarpsInLockstep& group, const Operation& operation);

/// A lockstep handler made of the handler for one warp.
template <Handler kHandler>
void for_each_in_lockstep(const WarpsInLockstep& group, const Operation& operation) {
  for (int i = 0; i < group.count; ++i) kHandler(*group.warps[static_cast<std::size_t>(i)], operation);
}

}  // namespace convladder::simulated
