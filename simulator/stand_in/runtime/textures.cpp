// Texture and surface objects.
#include <map>

#include "devices/device_error.hpp"
#include "simulator/stand_in/runtime/texel_formats.hpp"

using namespace convladder::stand_in;
using namespace convladder::simulated;

namespace {

/// The descriptions that the program gave, for its queries.
struct Given {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
};
std::map<unsigned long long, Given> given;  // protected by the machine's lock

TexelResource resource_of(Machine& machine, const cudaResourceDesc& description) {
  switch (description.resType) {
    case cudaResourceTypeArray:
      return machine.arrays().at(description.res.array.array).resource;
    case cudaResourceTypeLinear: {
      const auto& linear = description.res.linear;
      TexelResource resource{.geometry = Geometry::one, .format = format_of(linear.desc), .is_linear = true};
      resource.address = reinterpret_cast<std::uint64_t>(linear.devPtr);
      resource.width = linear.sizeInBytes / static_cast<std::uint64_t>(resource.format.bytes());
      return resource;
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = description.res.pitch2D;
      TexelResource resource{.geometry = Geometry::two, .format = format_of(rows.desc)};
      resource.address = reinterpret_cast<std::uint64_t>(rows.devPtr);
      resource.width = rows.width;
      resource.height = rows.height;
      resource.row_pitch = rows.pitchInBytes;
      return resource;
    }
    default:
      machine.report.not_supported("a texture of a mipmapped array");
      throw Failure(kNotSupported);
  }
}

AddressMode address_of(cudaTextureAddressMode mode) {
  switch (mode) {
    case cudaAddressModeWrap:
      return AddressMode::wrap;
    case cudaAddressModeMirror:
      return AddressMode::mirror;
    case cudaAddressModeClamp:
      return AddressMode::clamp;
    case cudaAddressModeBorder:
      return AddressMode::border;
  }
  throw Failure(kInvalidValue);
}

TextureDescription description_of(Machine& machine, const cudaResourceDesc& resource, const cudaTextureDesc& texture) {
  TextureDescription made{.resource = resource_of(machine, resource)};
  if (!made.resource.is_linear) {  // linear memory has neither: what is asked for is ignored
    for (std::size_t axis = 0; axis < 3; ++axis) made.sampler.address[axis] = address_of(texture.addressMode[axis]);
    made.sampler.filter = texture.filterMode == cudaFilterModeLinear ? FilterMode::linear : FilterMode::point;
  }
  made.sampler.normalized_coordinates = texture.normalizedCoords != 0;
  std::copy(std::begin(texture.borderColor), std::end(texture.borderColor), made.sampler.border.begin());
  made.read = texture.readMode == cudaReadModeNormalizedFloat ? ReadMode::normalized : ReadMode::element;
  made.srgb = texture.sRGB != 0;
  return made;
}

template <typename Make>
unsigned long long make(const Make& work) {
  try {
    return work();
  } catch (const convladder::DeviceError& error) {
    throw Failure(kInvalidValue, error.what());
  }
}

cudaError_t destroy(const char* name, unsigned long long handle) {
  return answer(name, [&](Machine& machine) {
    static_cast<void>(make([&] {
      if (handle != 0) machine.textures().destroy(handle);
      return handle;
    }));
    given.erase(handle);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* handle, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  return answer("cudaCreateTextureObject", [&](Machine& machine) {
    require(handle != nullptr && resource != nullptr && texture != nullptr);
    if (view != nullptr && view->format != cudaResViewFormatNone) {
      machine.report.not_supported("a texture with another view of its array");
      throw Failure(kNotSupported);
    }
    const TextureDescription description = description_of(machine, *resource, *texture);
    *handle = make([&] { return machine.textures().create_texture(description); });
    given[*handle] = {*resource, *texture};
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) { return destroy("cudaDestroyTextureObject", handle); }

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t handle) {
  return answer("cudaGetTextureObjectResourceDesc", [&](Machine&) {
    require(given.contains(handle));
    give(resource, given.at(handle).resource);
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t handle) {
  return answer("cudaGetTextureObjectTextureDesc", [&](Machine&) {
    require(given.contains(handle));
    give(texture, given.at(handle).texture);
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* handle, const cudaResourceDesc* resource) {
  return answer("cudaCreateSurfaceObject", [&](Machine& machine) {
    require(handle != nullptr && resource != nullptr && resource->resType == cudaResourceTypeArray);
    const Array& array = machine.arrays().at(resource->res.array.array);
    require((array.flags & cudaArraySurfaceLoadStore) != 0);
    *handle = make([&] { return machine.textures().create_surface(array.resource); });
    given[*handle] = {*resource, {}};
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) { return destroy("cudaDestroySurfaceObject", handle); }

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t handle) {
  return answer("cudaGetSurfaceObjectResourceDesc", [&](Machine&) {
    require(given.contains(handle));
    give(resource, given.at(handle).resource);
  });
}

}  // extern "C"
