// Finds blocks of a launch that have equal counts, proved from the kernel's instructions before any of them runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

/// How the index of a block along one axis, its place there, affects the block's counts.
struct EquivalentBlocks {
  /// Places at this distance have equal counts; 0 if that could not be shown.
  unsigned period = 0;
  /// Whether counts may depend on what a kernel has read from memory, and so on the images.
  bool depends_on_data = false;
  /// The first instruction that made `period` 0: "PTX line 12: 'bra' depends on the block's place".
  std::string why;
};

/// The allocation that an address lies in.
struct KnownBuffer {
  std::uint64_t begin = 0;
  bool is_complete = false;  ///< the host has written all of it
  bool operator==(const KnownBuffer&) const = default;
};
using BufferOfAddress = std::function<std::optional<KnownBuffer>(std::uint64_t address)>;

/// Follows every register from where it is written. A kernel's blocks are equivalent if its branches, predicates and
/// barriers depend neither on the place nor on memory, and every address in global memory is the sum of a part that
/// does not depend on the place and of the place times a number that is the same for all threads: then the sectors of
/// an access recur as soon as that number times the distance is a multiple of a sector. A table, a complete buffer that
/// the kernel does not write, has the same value for all blocks that read it at the same place. The only assumptions
/// are rules that a kernel has to keep anyway: its indices do not overflow and its pointers stay in their buffers.
EquivalentBlocks equivalent_blocks(const Program& program, Axis axis, Dim3 grid, Dim3 block,
                                   const std::vector<std::byte>& parameters, const BufferOfAddress& buffer_of);

}  // namespace convladder::simulated
