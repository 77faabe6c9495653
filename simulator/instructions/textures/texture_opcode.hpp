// The words of instructions on textures and surfaces (PTX ISA 9.0, 9.7.10 and 9.7.11).
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "simulator/ptx/module.hpp"
#include "simulator/textures/texture_table.hpp"

namespace convladder::simulated {

/// Whether the opcode reads texels (tex, tld4, suld), or writes them (sust, sured).
bool reads_texels(std::string_view opcode);
bool writes_texels(std::string_view opcode);
/// Whether it is tex or tld4, but not suld.
bool is_texture_fetch(std::string_view opcode);

/// The content of a result's register.
enum class TexelResult : std::uint8_t { word, half, half_pair };

/// The meaning of "tex.level.2d.v4.f32.f32" and "tld4.r.2d.v4.f32.f32", in eight bytes, so that an operation carries
/// it.
struct FetchOpcode {
  Geometry geometry = Geometry::two;
  TexelResult result = TexelResult::word;
  bool has_whole_coordinates = false;
  std::uint8_t operands_of_level = 0;  ///< after the address: one of .level, two of .grad
  bool gathers = false;
  std::uint8_t component = 0;  ///< the component of the texels to gather
  bool has_sampler = false;    ///< known from the operands, not from the opcode, as the offsets are
  bool has_offsets = false;
};
static_assert(sizeof(FetchOpcode) == sizeof(std::int64_t));
std::optional<FetchOpcode> parse_fetch(std::string_view opcode);

/// The effect of accesses outside of a surface.
enum class SurfaceClamp : std::uint8_t { trap, clamp, zero };
enum class SurfaceAccess : std::uint8_t { load, store, formatted_store, reduction, formatted_reduction };
enum class SurfaceReduction : std::uint8_t { none, add, minimum, maximum, and_, or_ };

/// The meaning of "sust.b.2d.v4.b8.trap", in eight bytes, so that an operation carries it.
struct SurfaceOpcode {
  Geometry geometry = Geometry::two;
  SurfaceAccess access = SurfaceAccess::load;
  SurfaceClamp clamp = SurfaceClamp::trap;
  SurfaceReduction reduction = SurfaceReduction::none;
  std::uint8_t elements = 1;
  bool is_signed = false;
  std::uint16_t bits = 32;  ///< size of an element

  int bytes() const { return elements * bits / 8; }
};
static_assert(sizeof(SurfaceOpcode) == sizeof(std::int64_t));
std::optional<SurfaceOpcode> parse_surface_access(std::string_view opcode);

}  // namespace convladder::simulated
