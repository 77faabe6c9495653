// The handles in instructions on textures and surfaces: how they are decoded, and the objects that they stand for.
#pragma once

#include <optional>
#include <vector>

#include "simulator/instructions/instruction_decoder.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/textures/texture_table.hpp"

namespace convladder::simulated {

/// Kinds of faults, by which two findings of one instruction differ. Kinds of accesses' faults have lower numbers.
enum TextureFault { kNoTexture = 60, kNoSampler, kOtherGeometry, kOutsideSurface };

/// Decodes "[%rd1, …]", "[image, …]", or a parameter `.param .texref`: the slot of the 64-bit handle.
Slot decode_handle(InstructionDecoder& decoder, const ptx::Operand& operand);

/// The coordinates in "[image, {%f1, %f2}]": the slots of the first `count`; there may be more.
std::vector<Slot> decode_coordinates(InstructionDecoder& decoder, const ptx::Operand& operand, std::size_t count);

/// The value of a handle; if it is a parameter's address, the value of the parameter.
std::uint64_t handle_value(const WarpState& warp, std::uint64_t handle);

/// The object that the handle stands for. If the instruction does not accept it (none: any geometry), the result is
/// nullptr and a fault of `lanes`.
const TextureObject* find_object(const WarpState& warp, const Operation& operation, LaneMask lanes,
                                 std::uint64_t handle, bool is_surface, std::optional<Geometry> geometry);

/// Calls apply(lanes, first of them) for the active lanes that have the same handles in both slots, one group after
/// another.
template <typename Apply>
void for_each_handle(const WarpState& warp, Slot slot, Slot other_slot, const Apply& apply) {
  const auto* const handles = warp.read<std::uint64_t>(slot);
  const auto* const others = warp.read<std::uint64_t>(other_slot);
  for (LaneMask left = warp.mask; left != 0;) {
    const int first = std::countr_zero(left);
    LaneMask same = 0;
    for (int lane = first; lane < kLanes; ++lane) {
      const bool is_same = handles[lane] == handles[first] && others[lane] == others[first];
      same |= LaneMask{is_same} << lane;
    }
    same &= left;
    left &= ~same;
    apply(same, first);
  }
}

}  // namespace convladder::simulated
