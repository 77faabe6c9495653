// Finds registers of a kernel that may share a slot: PTX has a register for every value, and the slots of one warp
// should fit the host's first-level cache.
#pragma once

#include <vector>

#include "simulator/ptx/control_flow.hpp"
#include "simulator/ptx/module.hpp"

namespace convladder::simulated {

struct RegisterAllocation {
  std::vector<int> slot;          ///< for each register, a number among the slots of its width
  std::vector<bool> from_before;  ///< registers that may be read before they are written, so they begin as zero
};

/// Widths are those of slots: 1, 32 or 64 bits, by register. Two registers share a slot only if no thread needs both
/// values at a time, and none is written by the instruction that reads the other last (linear scan over live ranges:
/// Poletto and Sarkar, 1999).
RegisterAllocation allocate_registers(const ptx::Kernel& kernel, const std::vector<ptx::BasicBlock>& blocks,
                                      const std::vector<int>& widths);

}  // namespace convladder::simulated
