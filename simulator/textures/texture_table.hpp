// The textures and surfaces of a device: the descriptions from a CUDA runtime, and the handles that kernels get for
// them.
//
// Texels are in the device's global memory, row after row: as a linear piece, as rows with a pitch, or in an array. A
// GPU keeps arrays in blocks that NVIDIA does not describe; here they are rows, so a request's sectors are those of
// rows.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/memory/device_memory.hpp"
#include "simulator/textures/texel_format.hpp"
#include "simulator/textures/texture_sampling.hpp"

namespace convladder::simulated {

/// The instructions that reach the texels (PTX ISA 9.0, 9.7.10): ".1d", ".a2d". Layers are indexed, never filtered.
enum class Geometry : std::uint8_t { one, two, three, one_layered, two_layered, cube, cube_layered };

int dimensions(Geometry geometry);  ///< coordinates of a texel: 1, 2 or 3; 2 for a cube
bool is_layered(Geometry geometry);
const char* geometry_name(Geometry geometry);  ///< as in an opcode: "a2d"

/// Texels in global memory. Texel (x, y, z) of a layer is at address + x * format.bytes() + y * row_pitch + (z or
/// layer) * slice_pitch.
struct TexelResource {
  Geometry geometry = Geometry::two;
  TexelFormat format;
  bool is_linear = false;  ///< a piece of memory: only whole coordinates, 0 outside (cudaResourceTypeLinear)
  std::uint64_t address = 0;
  std::uint64_t width = 1;        ///< texels
  std::uint64_t height = 1;       ///< rows; 1 for one dimension
  std::uint64_t depth = 1;        ///< slices of three dimensions; or layers, six for each cube
  std::uint64_t row_pitch = 0;    ///< bytes from row to row
  std::uint64_t slice_pitch = 0;  ///< bytes from slice to slice, or layer to layer
};

/// An array (cudaMallocArray, cudaMalloc3DArray) of that size at `address`: rows begin at multiples of 32 bytes.
/// `depth` as in TexelResource. Throws DeviceError for sizes of 0 or sizes that overflow.
TexelResource array_resource(Geometry geometry, TexelFormat format, std::uint64_t width, std::uint64_t height,
                             std::uint64_t depth, std::uint64_t address = 0);
/// The bytes that a resource takes in memory.
std::uint64_t resource_bytes(const TexelResource& resource);

struct TextureDescription {
  TexelResource resource;
  SamplerDescription sampler{};
  ReadMode read = ReadMode::element;
  bool srgb = false;  ///< for unsigned bytes that are read as numbers
};

/// The object that a handle stands for.
struct TextureObject {
  TextureDescription description;
  bool is_surface = false;
};

class TextureTable {
 public:
  explicit TextureTable(const DeviceMemory& memory) : memory_(memory) {}

  /// Creates a texture and returns its handle for kernels (cudaTextureObject_t), which cannot be confused with other
  /// 64-bit numbers. Throws DeviceError for what CUDA refuses: texels outside an allocation or misaligned, a format or
  /// geometry that does not exist, a linear filter on integers or on linear memory, normalized floats of 32-bit
  /// integers.
  std::uint64_t create_texture(const TextureDescription& description);
  /// Creates a surface and returns its handle (cudaSurfaceObject_t), as `create_texture` does. Surfaces are those of
  /// arrays.
  std::uint64_t create_surface(const TexelResource& resource);
  /// Makes the handle invalid. Throws DeviceError if it is invalid already.
  void destroy(std::uint64_t handle);

  /// Declares a variable `.texref`, `.surfref` or `.samplerref` of a module, at the address that
  /// SimulatedDevice::variable gives. `fields` are its initial values, by name: those of a sampler are used.
  void declare(std::uint64_t address, std::string_view type, std::string_view name,
               const std::vector<std::pair<std::string, std::string>>& fields);
  /// Binds a description to a declared variable (cudaBindTexture, cuTexRefSetArray, cuSurfRefSetArray) in place of the
  /// one bound before. Throws DeviceError as the creation of a handle does, and for variables of another type.
  void bind_texture(std::uint64_t address, const TextureDescription& description);
  void bind_surface(std::uint64_t address, const TexelResource& resource);
  void bind_sampler(std::uint64_t address, const SamplerDescription& sampler);
  void unbind(std::uint64_t address);

  /// The object of a handle, or of the address of a variable that something is bound to; nullptr for any other number.
  const TextureObject* find(std::uint64_t handle) const;
  const SamplerDescription* find_sampler(std::uint64_t address) const;
  /// Describes a handle that is no texture or surface, for a message: "a texture that was destroyed".
  std::string what_is(std::uint64_t handle) const;
  /// Whether the handle or address belongs to an object of type "texref", "samplerref" or "surfref".
  bool is_of_type(std::uint64_t handle, std::string_view type) const;

 private:
  struct Reference {
    std::string type;
    std::string name;
    std::uint64_t bound = 0;  ///< handle
    SamplerDescription sampler;
  };
  Reference& reference(std::uint64_t address, std::string_view type);
  void check(const TexelResource& resource) const;
  std::uint64_t add(const TextureObject& object);

  const DeviceMemory& memory_;
  std::map<std::uint64_t, TextureObject> objects_;  // by handle
  std::map<std::uint64_t, Reference> references_;   // by address
  std::uint64_t created_ = 0;
};

}  // namespace convladder::simulated
