// Finds the places where the lanes of a warp that went different ways meet again.
#pragma once

#include <vector>

#include "simulator/ptx/module.hpp"

namespace convladder::ptx {

/// A maximal run of instructions entered only at its first and left only after its last. Indices are instructions.
struct BasicBlock {
  int first = 0;
  int end = 0;                  ///< one past the last
  std::vector<int> successors;  ///< blocks; the number of blocks stands for the kernel's end
  bool returns = false;         ///< consists only of a return, or of a jump to one
  /// The block at which all ways from here meet again; the number of blocks for the end. It is the immediate
  /// post-dominator, except that ways that return before the others do are ignored: nobody waits for them.
  int reconvergence = 0;
  /// Grows from block to block where a way leads to another return than before: no block of a lower round can be
  /// reached, and the block at `reconvergence` has the same round.
  int round = 0;
  bool begins_function = false;  ///< the first block of a function that a kernel calls
};

/// The blocks of a kernel in the order of its instructions. Throws PtxError for a kernel that can run past its last
/// instruction, for one without any, and for branches whose targets are not labels (`brx`, `call`).
std::vector<BasicBlock> control_flow(const Kernel& kernel, const std::string& file);

}  // namespace convladder::ptx
