#include "simulator/instructions/textures/texture_handles.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <utility>

namespace convladder::simulated {

Slot decode_handle(InstructionDecoder& decoder, const ptx::Operand& operand) {
  ptx::Operand handle = operand;  // a sampler's handle has no brackets
  const bool is_name_or_register = operand.kind == ptx::OperandKind::address ||
                                   operand.kind == ptx::OperandKind::symbol ||
                                   operand.kind == ptx::OperandKind::register_;
  if (!is_name_or_register) decoder.fail("expected a texture, surface or sampler");
  handle.kind = ptx::OperandKind::address;
  return decoder.whole_address(handle, ptx::Space::generic);
}

std::vector<Slot> decode_coordinates(InstructionDecoder& decoder, const ptx::Operand& operand, std::size_t count) {
  const std::vector<ptx::Operand> single{operand};
  const auto& elements = operand.kind == ptx::OperandKind::vector ? operand.elements : single;
  if (elements.size() < count || elements.size() > 4) {
    decoder.fail(fmt::format("expected {} coordinates, found {}", count, elements.size()));
  }
  std::vector<Slot> slots;
  slots.reserve(count);
  for (std::size_t i = 0; i < count; ++i) slots.push_back(decoder.read(elements[i], 32));
  return slots;
}

std::uint64_t handle_value(const WarpState& warp, std::uint64_t handle) {
  const std::uint64_t offset = handle - kParameterWindow;
  const std::uint64_t bytes = warp.block->program->parameter_bytes;
  if (bytes < sizeof handle || offset > bytes - sizeof handle) return handle;
  std::memcpy(&handle, warp.block->parameters + offset, sizeof handle);
  return handle;
}

const TextureObject* find_object(const WarpState& warp, const Operation& operation, LaneMask lanes,
                                 std::uint64_t handle, bool is_surface, std::optional<Geometry> geometry) {
  const auto fault = [&](TextureFault kind, const std::string& problem) {
    warp.block->fault(warp, operation, Checker::memory, kind, lanes, [&](int lane) {
      return warp.block->finding_at(warp, operation, lane, Checker::memory, problem);
    });
    return nullptr;
  };
  const std::uint64_t value = handle_value(warp, handle);
  const TextureTable* const textures = warp.block->textures;
  const TextureObject* const object = textures == nullptr ? nullptr : textures->find(value);
  if (object == nullptr || object->is_surface != is_surface) {
    const std::string found = textures == nullptr ? "no texture or surface" : textures->what_is(value);
    return fault(kNoTexture, fmt::format("access to a {} by the handle 0x{:x}, which is {}",
                                         is_surface ? "surface" : "texture", value, found));
  }
  const Geometry actual = object->description.resource.geometry;
  const bool cube_as_layers =
      is_surface && geometry == Geometry::two_layered && (actual == Geometry::cube || actual == Geometry::cube_layered);
  if (geometry && actual != *geometry && !cube_as_layers) {
    return fault(kOtherGeometry, fmt::format("access as .{} to a {} that is .{}", geometry_name(*geometry),
                                             is_surface ? "surface" : "texture", geometry_name(actual)));
  }
  return object;
}

}  // namespace convladder::simulated
