#include "simulator/textures/texture_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "devices/device_error.hpp"

namespace convladder::simulated {
namespace {

constexpr std::uint64_t kRowAlignment = 32;  // a sector; accesses to surfaces are at most 16 bytes
constexpr std::uint64_t kHandleStep = 16;    // so that handles are neither small nor consecutive numbers

constexpr std::string_view kGeometryNames[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};

/// A product so small that no sum of three of them wraps.
std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / 4 / b) {
    throw DeviceError("a texture or surface: its size in bytes is beyond 64 bits");
  }
  return a * b;
}

bool is_cube(Geometry geometry) { return geometry == Geometry::cube || geometry == Geometry::cube_layered; }

std::optional<AddressMode> address_mode_of(std::string_view name) {
  if (name == "wrap") return AddressMode::wrap;
  if (name == "mirror") return AddressMode::mirror;
  if (name == "clamp_ogl" || name == "clamp_to_edge") return AddressMode::clamp;
  if (name == "clamp_to_border") return AddressMode::border;
  return std::nullopt;
}

/// The sampler of an initial value's fields (PTX ISA 9.0, 5.3): addr_mode_0 to 2, filter_mode,
/// force_unnormalized_coords.
SamplerDescription sampler_of(const std::vector<std::pair<std::string, std::string>>& fields) {
  SamplerDescription sampler;
  sampler.normalized_coordinates = true;
  for (const auto& [name, value] : fields) {
    if (name == "filter_mode") sampler.filter = value == "linear" ? FilterMode::linear : FilterMode::point;
    if (name == "force_unnormalized_coords") sampler.normalized_coordinates = value == "0";
    for (std::size_t axis = 0; axis < sampler.address.size(); ++axis) {
      if (name != fmt::format("addr_mode_{}", axis)) continue;
      if (const auto mode = address_mode_of(value)) sampler.address[axis] = *mode;
    }
  }
  return sampler;
}

}  // namespace

int dimensions(Geometry geometry) {
  if (geometry == Geometry::one || geometry == Geometry::one_layered) return 1;
  return geometry == Geometry::three ? 3 : 2;
}

bool is_layered(Geometry geometry) {
  return geometry == Geometry::one_layered || geometry == Geometry::two_layered || is_cube(geometry);
}

const char* geometry_name(Geometry geometry) { return kGeometryNames[static_cast<std::size_t>(geometry)].data(); }

TexelResource array_resource(Geometry geometry, TexelFormat format, std::uint64_t width, std::uint64_t height,
                             std::uint64_t depth, std::uint64_t address) {
  if (width == 0 || height == 0 || depth == 0) throw DeviceError("an array without texels");
  TexelResource resource{.geometry = geometry,
                         .format = format,
                         .is_linear = false,
                         .address = address,
                         .width = width,
                         .height = height,
                         .depth = depth};
  const std::uint64_t row = checked_product(width, static_cast<std::uint64_t>(format.bytes()));
  resource.row_pitch = (row + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  resource.slice_pitch = checked_product(resource.row_pitch, height);
  static_cast<void>(checked_product(resource.slice_pitch, depth));
  return resource;
}

std::uint64_t resource_bytes(const TexelResource& resource) {
  if (resource.width == 0 || resource.height == 0 || resource.depth == 0) return 0;
  const std::uint64_t slices = checked_product(resource.depth - 1, resource.slice_pitch);
  const std::uint64_t rows = checked_product(resource.height - 1, resource.row_pitch);
  const std::uint64_t row = checked_product(resource.width, static_cast<std::uint64_t>(resource.format.bytes()));
  return slices + rows + row;
}

void TextureTable::check(const TexelResource& resource) const {
  const int channels = resource.format.channels;
  if (channels != 1 && channels != 2 && channels != 4) {
    throw DeviceError(fmt::format("a texture or surface of {} channels: there may be 1, 2 or 4", channels));
  }
  const std::uint64_t bytes = resource_bytes(resource);
  if (bytes == 0) throw DeviceError("a texture or surface without texels");
  const auto texel = static_cast<std::uint64_t>(resource.format.bytes());
  if (resource.address % texel != 0 || resource.row_pitch % texel != 0 || resource.slice_pitch % texel != 0) {
    throw DeviceError(
        fmt::format("a texture or surface: its begin and the lengths of its rows must be multiples of a texel's {} "
                    "bytes",
                    texel));
  }
  if (dimensions(resource.geometry) == 1 && resource.height != 1) {
    throw DeviceError("a texture or surface of one dimension has one row");
  }
  if (!is_layered(resource.geometry) && resource.geometry != Geometry::three && resource.depth != 1) {
    throw DeviceError("a texture or surface without layers or depth has one slice");
  }
  if (is_cube(resource.geometry) && (resource.width != resource.height || resource.depth % 6 != 0 ||
                                     (resource.geometry == Geometry::cube && resource.depth != 6))) {
    throw DeviceError("a cube has six square faces");
  }
  const Allocation* const allocation = memory_.find(resource.address);
  if (allocation == nullptr || bytes > allocation->end - resource.address) {
    throw DeviceError(
        fmt::format("a texture or surface of {} bytes at 0x{:x} leaves its allocation", bytes, resource.address));
  }
}

std::uint64_t TextureTable::add(const TextureObject& object) {
  const std::uint64_t handle = kTextureWindow + kHandleStep * ++created_;
  objects_.emplace(handle, object);
  return handle;
}

std::uint64_t TextureTable::create_texture(const TextureDescription& description) {
  check(description.resource);
  const ChannelType type = description.resource.format.type;
  const bool is_32_bit_integer = type == ChannelType::u32 || type == ChannelType::s32;
  const bool reads_numbers = is_floating(type) || description.read == ReadMode::normalized;
  if (description.read == ReadMode::normalized && is_32_bit_integer) {
    throw DeviceError("a texture of 32-bit integers cannot be read as normalized floats");
  }
  if (description.sampler.filter == FilterMode::linear && !reads_numbers) {
    throw DeviceError("a texture of integers has no linear filter, unless it is read as normalized floats");
  }
  if (description.resource.is_linear) {
    if (description.resource.geometry != Geometry::one) throw DeviceError("linear memory has one dimension");
    if (description.sampler.filter == FilterMode::linear) throw DeviceError("linear memory has no linear filter");
    if (description.sampler.normalized_coordinates) throw DeviceError("linear memory has no normalized coordinates");
  }
  if (description.srgb && (type != ChannelType::u8 || !reads_numbers)) {
    throw DeviceError("only unsigned bytes that are read as normalized floats can be sRGB");
  }
  return add({description, false});
}

std::uint64_t TextureTable::create_surface(const TexelResource& resource) {
  check(resource);
  if (resource.is_linear) throw DeviceError("linear memory is no surface: only arrays are");
  TextureObject object;
  object.description.resource = resource;
  object.is_surface = true;
  return add(object);
}

void TextureTable::destroy(std::uint64_t handle) {
  if (objects_.erase(handle) == 0) {
    throw DeviceError(fmt::format("0x{:x} is {}", handle, what_is(handle)));
  }
}

void TextureTable::declare(std::uint64_t address, std::string_view type, std::string_view name,
                           const std::vector<std::pair<std::string, std::string>>& fields) {
  Reference& declared = references_[address];
  declared.type = type;
  declared.name = name;
  declared.sampler = sampler_of(fields);
}

TextureTable::Reference& TextureTable::reference(std::uint64_t address, std::string_view type) {
  const auto found = references_.find(address);
  if (found == references_.end() || (!type.empty() && found->second.type != type)) {
    throw DeviceError(fmt::format("{} is no .{}", found == references_.end() ? "the variable" : found->second.name,
                                  type.empty() ? "texref, surfref or samplerref" : type));
  }
  return found->second;
}

void TextureTable::bind_texture(std::uint64_t address, const TextureDescription& description) {
  Reference& bound = reference(address, "texref");
  const std::uint64_t handle = create_texture(description);
  objects_.erase(bound.bound);
  bound.bound = handle;
}

void TextureTable::bind_surface(std::uint64_t address, const TexelResource& resource) {
  Reference& bound = reference(address, "surfref");
  const std::uint64_t handle = create_surface(resource);
  objects_.erase(bound.bound);
  bound.bound = handle;
}

void TextureTable::bind_sampler(std::uint64_t address, const SamplerDescription& sampler) {
  reference(address, "samplerref").sampler = sampler;
}

void TextureTable::unbind(std::uint64_t address) {
  Reference& bound = reference(address, "");
  objects_.erase(bound.bound);
  bound.bound = 0;
}

const TextureObject* TextureTable::find(std::uint64_t handle) const {
  if (const auto reference = references_.find(handle); reference != references_.end()) {
    handle = reference->second.bound;
  }
  const auto found = objects_.find(handle);
  return found == objects_.end() ? nullptr : &found->second;
}

const SamplerDescription* TextureTable::find_sampler(std::uint64_t address) const {
  const auto found = references_.find(address);
  return found == references_.end() || found->second.type != "samplerref" ? nullptr : &found->second.sampler;
}

std::string TextureTable::what_is(std::uint64_t handle) const {
  if (const auto found = references_.find(handle); found != references_.end()) {
    const auto& [type, name, bound, sampler] = found->second;
    if (type == "samplerref") return fmt::format("the sampler '{}'", name);
    if (!objects_.contains(bound)) return fmt::format("the .{} '{}', which nothing is bound to", type, name);
    return fmt::format("the .{} '{}'", type, name);
  }
  if (const auto found = objects_.find(handle); found != objects_.end()) {
    return found->second.is_surface ? "a surface" : "a texture";
  }
  const bool was_given_out = handle > kTextureWindow && handle <= kTextureWindow + kHandleStep * created_ &&
                             (handle - kTextureWindow) % kHandleStep == 0;
  if (was_given_out) return "a texture or surface that was destroyed";
  return "no texture or surface";
}

bool TextureTable::is_of_type(std::uint64_t handle, std::string_view type) const {
  if (const auto found = references_.find(handle); found != references_.end()) return found->second.type == type;
  const TextureObject* const object = find(handle);
  return object != nullptr && type == (object->is_surface ? "surfref" : "texref");
}

}  // namespace convladder::simulated
