// Which blocks of a launch count the same, proved from the kernel's instructions before any of them runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "devices/simulated/execution/program.hpp"

namespace convladder::simulated {

/// What the index of a block along one axis, its place there, means for what the block counts.
struct AlikeBlocks {
  /// Places that are so far apart count the same; 0 if that could not be shown.
  unsigned period = 0;
  /// Whether what is counted may depend on what a kernel has read from memory, and with it on the images.
  bool depends_on_data = false;
  /// The first instruction that made `period` 0: "PTX line 12: 'bra' depends on the block's place".
  std::string why;
};

/// Follows every register from where it is written. A kernel's blocks count alike if its branches, predicates and
/// barriers depend neither on the place nor on memory, and every address in global memory is a sum of what does not
/// depend on the place and of the place times a number that is the same for all threads: then the sectors of an access
/// come again as soon as that number times the distance is a multiple of a sector. Taken for granted is only what a
/// kernel has to keep to anyway: that its indices do not overflow.
AlikeBlocks alike_blocks(const Program& program, Axis axis, Dim3 grid, Dim3 block,
                         const std::vector<std::byte>& parameters);

}  // namespace convladder::simulated
