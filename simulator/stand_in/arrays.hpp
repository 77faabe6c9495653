// CUDA arrays: texels in memory of the device, for textures, surfaces and copies.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "simulator/stand_in/copying.hpp"
#include "simulator/stand_in/machine.hpp"
#include "simulator/textures/texture_table.hpp"

namespace convladder::stand_in {

struct Array {
  simulated::TexelResource resource;
  unsigned flags = 0;           ///< as given at its creation
  std::uint64_t asked[3] = {};  ///< width, height, depth as given: 0 where the array has no such dimension

  std::uint64_t texel_bytes() const { return static_cast<std::uint64_t>(resource.format.bytes()); }
  /// The part of the array from a texel on; x is in bytes. Throws Failure if the box of bytes, rows and slices is not
  /// inside.
  Rectangle box(std::uint64_t x, std::uint64_t y, std::uint64_t z, const Size3& size) const;
};

class Arrays {
 public:
  /// Throws Failure if the device has too little memory, or such an array does not exist.
  Array* add(Machine& machine, simulated::Geometry geometry, simulated::TexelFormat format,
             const std::uint64_t (&extent)[3], unsigned flags, const char* call);
  /// Throws Failure for a handle of no array.
  Array& at(const void* handle) const;
  void remove(Machine& machine, const void* handle);

 private:
  std::map<const void*, std::unique_ptr<Array>> arrays_;
};

}  // namespace convladder::stand_in
