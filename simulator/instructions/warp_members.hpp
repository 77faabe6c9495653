// The member mask of instructions in which the lanes of a warp meet (PTX ISA 9.0, 9.7.9.6: shfl.sync and others).
//
// Every lane gives a mask of the lanes that it wants to meet; lanes with the same mask meet. A mask must name the
// lane itself, and all lanes it names must come here, to the same instruction: the warp waits for them
// (BlockRunner::schedule). Lanes that have exited are not waited for, as in the CUDA C++ programming guide.
#pragma once

#include <fmt/format.h>

#include "simulator/state/block_context.hpp"

namespace convladder::simulated {

/// The kinds of faults of one instruction.
enum MemberFault { kNotNamed, kNotHere, kNoSource, kNotAllLanes, kNotUniform };

void report_not_named(const WarpState& warp, const Operation& operation, LaneMask named, LaneMask lanes);
void report_not_here(const WarpState& warp, const Operation& operation, LaneMask named, LaneMask lanes);

/// Calls body(members) for the executing lanes of each mask, and reports wrong masks.
template <typename Body>
void for_each_group(const WarpState& warp, const Operation& operation, Slot mask_slot, const Body& body) {
  const auto* const masks = warp.read<LaneMask>(mask_slot);
  for (LaneMask left = warp.mask; left != 0;) {
    const LaneMask named = masks[std::countr_zero(left)];
    LaneMask members = 0;
    for (int lane = 0; lane < kLanes; ++lane) members |= LaneMask{masks[lane] == named} << lane;
    members &= left;
    left &= ~members;
    if ((members & ~named) != 0) report_not_named(warp, operation, named, members & ~named);
    if ((named & warp.all() & ~members & ~warp.elsewhere) != 0) report_not_here(warp, operation, named, members);
    body(members);
  }
}

}  // namespace convladder::simulated
