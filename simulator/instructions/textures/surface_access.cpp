// suld, sust and sured (PTX ISA 9.0, 9.7.11). The first coordinate counts bytes, or texels in formatted accesses
// (.p).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "simulator/instructions/textures/texture_handles.hpp"
#include "simulator/instructions/textures/texture_opcode.hpp"
#include "simulator/state/lane_access.hpp"

namespace convladder::simulated {
namespace {

bool is_formatted(SurfaceAccess access) {
  return access == SurfaceAccess::formatted_store || access == SurfaceAccess::formatted_reduction;
}
AccessKind kind_of(SurfaceAccess access) {
  if (access == SurfaceAccess::load) return AccessKind::load;
  return access == SurfaceAccess::store || access == SurfaceAccess::formatted_store ? AccessKind::store
                                                                                    : AccessKind::atomic;
}

/// Coordinates of a lane: byte, row and slice; the layer is the slice.
using Place = std::array<std::int64_t, 3>;

Place place_of(const WarpState& warp, const SurfaceOpcode& opcode, const Slot* coordinates, int texel_bytes, int lane) {
  Place place{};
  const bool layered = is_layered(opcode.geometry);
  const int axes = dimensions(opcode.geometry);
  const auto word = [&](int i) { return warp.read<std::uint32_t>(coordinates[i])[lane]; };
  if (layered) place[2] = word(0);
  for (int axis = 0; axis < axes; ++axis) place[axis] = static_cast<std::int32_t>(word(axis + (layered ? 1 : 0)));
  if (is_formatted(opcode.access)) place[0] *= texel_bytes;
  return place;
}

/// Lanes with the same surface, and the addresses of those inside it.
struct Targets {
  Addresses addresses{};
  LaneMask lanes = 0;
};

Targets find_targets(const WarpState& warp, const Operation& operation, LaneMask lanes, const TexelResource& resource,
                     const SurfaceOpcode& opcode, const Slot* coordinates, int bytes) {
  Targets targets;
  LaneMask outside = 0;
  const auto row = static_cast<std::int64_t>(resource.width) * resource.format.bytes();
  const Place last{row - bytes, static_cast<std::int64_t>(resource.height) - 1,
                   static_cast<std::int64_t>(resource.depth) - 1};
  for_each_lane(lanes, [&](int lane) {
    Place place = place_of(warp, opcode, coordinates, resource.format.bytes(), lane);
    bool is_inside = last[0] >= 0;
    for (std::size_t axis = 0; axis < 3; ++axis) is_inside = is_inside && place[axis] >= 0 && place[axis] <= last[axis];
    if (!is_inside && (opcode.clamp != SurfaceClamp::clamp || last[0] < 0)) {
      outside |= LaneMask{1} << lane;
      return;
    }
    if (place[0] > last[0]) place[0] = last[0] / bytes * bytes;  // aligned to an element
    for (std::size_t axis = 0; axis < 3; ++axis) place[axis] = std::clamp<std::int64_t>(place[axis], 0, last[axis]);
    targets.lanes |= LaneMask{1} << lane;
    targets.addresses[lane] = resource.address + static_cast<std::uint64_t>(place[0]) +
                              static_cast<std::uint64_t>(place[1]) * resource.row_pitch +
                              static_cast<std::uint64_t>(place[2]) * resource.slice_pitch;
  });
  if (outside != 0 && opcode.clamp == SurfaceClamp::trap) {
    warp.block->fault(warp, operation, Checker::memory, kOutsideSurface, outside, [&](int lane) {
      const Place place = place_of(warp, opcode, coordinates, resource.format.bytes(), lane);
      Finding finding = warp.block->finding_at(
          warp, operation, lane, Checker::memory,
          fmt::format("access to {} bytes at byte {} of row {} of slice {} of a surface of {} slices of {} rows of {} "
                      "bytes",
                      bytes, place[0], place[1], place[2], resource.depth, resource.height, row));
      const Allocation* const memory = warp.block->memory->find(resource.address);
      if (memory != nullptr) finding.allocation = memory->label;
      return finding;
    });
  }
  return targets;
}

// --- what is done with the bytes ------------------------------------------------------------------------------------

void load(const WarpState& warp, const SurfaceOpcode& opcode, const Slot* values, const LanePlaces& places) {
  const std::size_t bytes = opcode.bits / 8;
  for (std::size_t i = 0; i < opcode.elements; ++i) {
    for_each_lane(places.mask, [&](int lane) {
      std::uint64_t value = 0;
      std::memcpy(&value, places.at[lane] + i * bytes, bytes);
      if (opcode.bits == 64) {
        warp.write<std::uint64_t>(values[i])[lane] = value;
      } else {
        warp.write<std::uint32_t>(values[i])[lane] = static_cast<std::uint32_t>(value);
      }
    });
  }
}

std::uint64_t value_of(const WarpState& warp, const SurfaceOpcode& opcode, Slot slot, int lane) {
  return opcode.bits == 64 ? warp.read<std::uint64_t>(slot)[lane] : warp.read<std::uint32_t>(slot)[lane];
}

void store(const WarpState& warp, const SurfaceOpcode& opcode, const Slot* values, const LanePlaces& places) {
  const std::size_t bytes = opcode.bits / 8;
  for_each_lane(places.mask, [&](int lane) {
    for (std::size_t i = 0; i < opcode.elements; ++i) {
      const std::uint64_t value = value_of(warp, opcode, values[i], lane);
      std::memcpy(places.at[lane] + i * bytes, &value, bytes);
    }
  });
}

void store_formatted(const WarpState& warp, const SurfaceOpcode& opcode, const Slot* values, const TexelFormat& format,
                     const LanePlaces& places) {
  for_each_lane(places.mask, [&](int lane) {
    std::array<std::uint32_t, 4> words{};
    for (std::size_t i = 0; i < opcode.elements; ++i) words[i] = warp.read<std::uint32_t>(values[i])[lane];
    store_texel(format, words, opcode.elements, places.at[lane]);
  });
}

template <typename T>
T reduced(SurfaceReduction reduction, T old, T value) {
  using Unsigned = std::make_unsigned_t<T>;
  switch (reduction) {
    case SurfaceReduction::add:
      return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(value));
    case SurfaceReduction::minimum:
      return std::min(old, value);
    case SurfaceReduction::maximum:
      return std::max(old, value);
    case SurfaceReduction::and_:
      return old & value;
    default:
      return old | value;
  }
}

template <typename T>
void reduce(const WarpState& warp, const SurfaceOpcode& opcode, Slot values, const LanePlaces& places) {
  for_each_lane(places.mask, [&](int lane) {
    T old;
    std::memcpy(&old, places.at[lane], sizeof old);
    old = reduced(opcode.reduction, old, static_cast<T>(value_of(warp, opcode, values, lane)));
    std::memcpy(places.at[lane], &old, sizeof old);
  });
}

/// Reduces values into the surface, which says whether a formatted reduction's numbers are signed.
void reduce(const WarpState& warp, const SurfaceOpcode& opcode, const Slot* values, const TexelFormat& format,
            const LanePlaces& places) {
  const bool is_signed = opcode.is_signed || (is_formatted(opcode.access) && is_signed_integer(format.type));
  if (opcode.bits == 64) {
    is_signed ? reduce<std::int64_t>(warp, opcode, *values, places)
              : reduce<std::uint64_t>(warp, opcode, *values, places);
  } else {
    is_signed ? reduce<std::int32_t>(warp, opcode, *values, places)
              : reduce<std::uint32_t>(warp, opcode, *values, places);
  }
}

/// Carries out an access. In the operand lists: values, then coordinates.
void access_surface(WarpState& warp, const Operation& operation) {
  const auto opcode = std::bit_cast<SurfaceOpcode>(operation.offset);
  const Slot* const values = warp.block->program->operand_lists.data() + operation.list;
  const Slot* const coordinates = values + opcode.elements;
  const AccessKind kind = kind_of(opcode.access);
  // A result may take the place of a coordinate or the handle: zeros are written only after all operands are read.
  struct Found {
    LanePlaces places;
    const TexelFormat* format = nullptr;
  };
  std::vector<Found> all;
  TouchedSectors sectors;
  for_each_handle(warp, operation.operands[0], operation.operands[0], [&](LaneMask lanes, int first) {
    const std::uint64_t handle = warp.read<std::uint64_t>(operation.operands[0])[first];
    const TextureObject* const object = find_object(warp, operation, lanes, handle, true, opcode.geometry);
    if (object == nullptr) return;
    const TexelResource& resource = object->description.resource;
    const int bytes = opcode.access == SurfaceAccess::formatted_store ? resource.format.bytes() : opcode.bytes();
    const Targets targets = find_targets(warp, operation, lanes, resource, opcode, coordinates, bytes);
    all.push_back(
        {reach_texels(warp, operation, targets.addresses, targets.lanes, bytes, kind, sectors), &resource.format});
  });
  if (!all.empty()) count_texels(warp, operation, sectors, kind, false);
  if (opcode.access == SurfaceAccess::load) {
    for (std::size_t i = 0; i < opcode.elements; ++i) {
      const auto zero = [](int /*lane*/) { return 0U; };
      if (opcode.bits == 64) {
        write_lanes(warp.write<std::uint64_t>(values[i]), warp.mask, zero);
      } else {
        write_lanes(warp.write<std::uint32_t>(values[i]), warp.mask, zero);
      }
    }
  } else {
    ++warp.block->memory_changes;
  }
  for (const Found& found : all) {
    if (opcode.access == SurfaceAccess::load) {
      load(warp, opcode, values, found.places);
    } else if (opcode.access == SurfaceAccess::store) {
      store(warp, opcode, values, found.places);
    } else if (opcode.access == SurfaceAccess::formatted_store) {
      store_formatted(warp, opcode, values, *found.format, found.places);
    } else {
      reduce(warp, opcode, values, *found.format, found.places);
    }
  }
}

}  // namespace

bool decode_surface_access(InstructionDecoder& decoder) {
  const auto opcode = parse_surface_access(decoder.instruction().opcode);
  if (!opcode) return false;
  decoder.expect_operands(2);
  const auto& operands = decoder.instruction().operands;
  const bool loads = opcode->access == SurfaceAccess::load;
  const ptx::Operand& address = operands[loads ? 1 : 0];
  const ptx::Operand& value = operands[loads ? 0 : 1];
  if (address.kind != ptx::OperandKind::address || address.elements.size() != 1) {
    decoder.fail("expected [surface, coordinates]");
  }
  const std::vector<ptx::Operand> single{value};
  const auto& elements = value.kind == ptx::OperandKind::vector ? value.elements : single;
  if (elements.size() != opcode->elements) {
    decoder.fail(fmt::format("expected {} elements, found {}", opcode->elements, elements.size()));
  }
  Operation operation;
  operation.operands[0] = decode_handle(decoder, address);
  const int count = dimensions(opcode->geometry) + (is_layered(opcode->geometry) ? 1 : 0);
  const std::vector<Slot> coordinates =
      decode_coordinates(decoder, address.elements[0], static_cast<std::size_t>(count));
  std::vector<Slot> slots;
  slots.reserve(elements.size() + coordinates.size());
  const int bits = opcode->bits == 64 ? 64 : 32;
  for (const ptx::Operand& element : elements) {
    slots.push_back(loads ? decoder.write_narrow(element, bits) : decoder.read(element, bits));
  }
  slots.insert(slots.end(), coordinates.begin(), coordinates.end());
  operation.list = decoder.keep_operands(slots);
  operation.offset = std::bit_cast<std::int64_t>(*opcode);
  operation.handler = access_surface;
  const bool reduces = opcode->reduction != SurfaceReduction::none;
  if (reduces) decoder.require_block_order();  // memory is read and written in two steps
  decoder.emit(operation);
  decoder.finish_writes();
  return true;
}

}  // namespace convladder::simulated
