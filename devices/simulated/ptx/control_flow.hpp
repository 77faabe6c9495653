// Where the lanes of a warp that went different ways meet again.
#pragma once

#include <vector>

#include "devices/simulated/ptx/module.hpp"

namespace convladder::ptx {

/// A maximal run of instructions entered only at its first and left only after its last. Indices are instructions.
struct BasicBlock {
  int first = 0;
  int end = 0;                  ///< one past the last
  std::vector<int> successors;  ///< blocks; the number of blocks stands for the kernel's end
  /// The block at which all ways from here meet again (immediate post-dominator); the number of blocks for the end.
  int reconvergence = 0;
};

/// The blocks of a kernel in the order of its instructions. Throws PtxError for a kernel that can run past its last
/// instruction, for one without any, and for branches whose targets are not labels (`brx`, `call`).
std::vector<BasicBlock> control_flow(const Kernel& kernel, const std::string& file);

}  // namespace convladder::ptx
