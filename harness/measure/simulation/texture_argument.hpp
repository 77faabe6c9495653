// Textures and surfaces as they are written on the command line.
//
//   texture[,WORD…]:TYPE:CONTENT      WORDs: the geometry, the filter, the address mode, and how it is read
//   surface[,WORD…]:TYPE:CONTENT      WORDs: the geometry, and in, inout (as without) or out
//
//   geometry      1d, 2d, 3d, 1d-layers, 2d-layers, cube, cube-layers; buffer: one of linear memory
//   filter        point (as without), linear
//   address mode  clamp (as without), wrap, mirror, border
//   how           normalized: coordinates from 0 to 1; as-float: integers as numbers from 0 or -1 to 1; srgb
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/textures/texture_table.hpp"
#include "support/element_type.hpp"

namespace convladder {

struct TextureRequest {
  std::string what;  ///< begins messages
  bool is_surface = false;
  std::string access;  ///< of a surface: "in", "inout", "out"
  std::optional<simulated::Geometry> geometry;
  /// The requested description; the resource has no address of memory yet.
  simulated::TextureDescription description;
};

/// Parses "texture,linear,wrap"; none if it is no texture or surface. Throws UserError that starts with `what`.
std::optional<TextureRequest> parse_texture_words(const std::string& what, std::string_view words);

/// Fills in the resource for elements of `type` and of this shape: [layer or slice][row][texel of the row], followed by
/// the channels, 2 or 4, if there are several. Throws UserError that starts with `what`.
void set_texture_shape(const std::string& what, ElementType type, const std::vector<std::size_t>& shape,
                       TextureRequest& request);

}  // namespace convladder
