// Arrays, texture and surface objects: the runtime's, described in the driver's structures.
#include "simulator/stand_in/arrays.hpp"

#include <algorithm>
#include <iterator>

#include "simulator/stand_in/driver/answer.hpp"

using namespace convladder::stand_in;

namespace {

struct Format {
  CUarray_format driver;
  cudaChannelFormatKind kind;
  int bits;
};
constexpr Format kFormats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
                               {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
                               {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
                               {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
                               {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
                               {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
                               {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
                               {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32}};

cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels) {
  require(channels == 1 || channels == 2 || channels == 4);
  const auto* const found = std::ranges::find(kFormats, format, &Format::driver);
  if (found == std::end(kFormats))
    throw Failure(kNotSupported, "a texel format that is compressed or of several planes");
  const auto bits = [&](unsigned channel) { return channel < channels ? found->bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), found->kind};
}

CUDA_ARRAY3D_DESCRIPTOR description_of(CUarray array) {
  cudaChannelFormatDesc channels = {};
  cudaExtent extent = {};
  unsigned flags = 0;
  succeed(cudaArrayGetInfo(&channels, &extent, &flags, reinterpret_cast<cudaArray_t>(array)));
  CUDA_ARRAY3D_DESCRIPTOR made = {};
  made.Width = extent.width;
  made.Height = extent.height;
  made.Depth = extent.depth;
  for (const int bits : {channels.x, channels.y, channels.z, channels.w}) made.NumChannels += bits > 0 ? 1 : 0;
  made.Format = std::ranges::find_if(kFormats, [&](const Format& one) {
                  return one.kind == channels.f && one.bits == channels.x;
                })->driver;
  made.Flags = flags;
  return made;
}

CUresult create(const char* name, CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR& wanted) {
  return answer_driver(name, Needs::context, [&](Machine&) {
    require(array != nullptr);
    const cudaChannelFormatDesc channels = channels_of(wanted.Format, wanted.NumChannels);
    succeed(cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(array), &channels,
                              {wanted.Width, wanted.Height, wanted.Depth}, wanted.Flags));
  });
}

cudaResourceDesc resource_of(const CUDA_RESOURCE_DESC& wanted) {
  cudaResourceDesc made = {};
  switch (wanted.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      made.resType = cudaResourceTypeArray;
      made.res.array.array = reinterpret_cast<cudaArray_t>(wanted.res.array.hArray);
      break;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = wanted.res.linear;
      made.resType = cudaResourceTypeLinear;
      made.res.linear.devPtr = address_of(linear.devPtr);
      made.res.linear.desc = channels_of(linear.format, linear.numChannels);
      made.res.linear.sizeInBytes = linear.sizeInBytes;
      break;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& rows = wanted.res.pitch2D;
      made.resType = cudaResourceTypePitch2D;
      made.res.pitch2D.devPtr = address_of(rows.devPtr);
      made.res.pitch2D.desc = channels_of(rows.format, rows.numChannels);
      made.res.pitch2D.width = rows.width;
      made.res.pitch2D.height = rows.height;
      made.res.pitch2D.pitchInBytes = rows.pitchInBytes;
      break;
    }
    default:
      made.resType = cudaResourceTypeMipmappedArray;  // the runtime refuses and names it
  }
  return made;
}

/// The channels of a resource that is described in the driver's structure.
cudaChannelFormatDesc channels_of(const cudaResourceDesc& resource) {
  if (resource.resType == cudaResourceTypeLinear) return resource.res.linear.desc;
  if (resource.resType == cudaResourceTypePitch2D) return resource.res.pitch2D.desc;
  cudaChannelFormatDesc channels = {};
  if (resource.resType == cudaResourceTypeArray) succeed(cudaGetChannelDesc(&channels, resource.res.array.array));
  return channels;
}

cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC& wanted, const cudaChannelFormatDesc& channels) {
  cudaTextureDesc made = {};
  std::ranges::transform(wanted.addressMode, made.addressMode,
                         [](CUaddress_mode mode) { return static_cast<cudaTextureAddressMode>(mode); });
  made.filterMode = static_cast<cudaTextureFilterMode>(wanted.filterMode);
  // cuda.h: integers of 8 and 16 bits become 0 to 1, or -1 to 1, unless the flag says otherwise.
  const bool is_small_integer = channels.f != cudaChannelFormatKindFloat && channels.x < 32;
  const bool as_integer = (wanted.flags & CU_TRSF_READ_AS_INTEGER) != 0;
  made.readMode = is_small_integer && !as_integer ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  made.sRGB = (wanted.flags & CU_TRSF_SRGB) != 0 ? 1 : 0;
  made.normalizedCoords = (wanted.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  made.maxAnisotropy = wanted.maxAnisotropy;
  made.mipmapFilterMode = static_cast<cudaTextureFilterMode>(wanted.mipmapFilterMode);
  made.mipmapLevelBias = wanted.mipmapLevelBias;
  made.minMipmapLevelClamp = wanted.minMipmapLevelClamp;
  made.maxMipmapLevelClamp = wanted.maxMipmapLevelClamp;
  std::ranges::copy(wanted.borderColor, made.borderColor);
  return made;
}

}  // namespace

extern "C" {

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* wanted) {
  if (wanted == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return create("cuArrayCreate", array, {wanted->Width, wanted->Height, 0, wanted->Format, wanted->NumChannels, 0});
}
CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* wanted) {
  return wanted == nullptr ? CUDA_ERROR_INVALID_VALUE : create("cuArray3DCreate", array, *wanted);
}
CUresult cuArrayDestroy(CUarray array) {
  return answer_driver("cuArrayDestroy", Needs::context,
                       [&](Machine& machine) { machine.arrays().remove(machine, array); });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* wanted, CUarray array) {
  return answer_driver("cuArrayGetDescriptor", Needs::context, [&](Machine&) {
    const CUDA_ARRAY3D_DESCRIPTOR known = description_of(array);
    give(wanted, {known.Width, known.Height, known.Format, known.NumChannels});
  });
}
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* wanted, CUarray array) {
  return answer_driver("cuArray3DGetDescriptor", Needs::context,
                       [&](Machine&) { give(wanted, description_of(array)); });
}

CUresult cuTexObjectCreate(CUtexObject* handle, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* texture,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return answer_driver("cuTexObjectCreate", Needs::context, [&](Machine& machine) {
    require(handle != nullptr && resource != nullptr && texture != nullptr);
    if (view != nullptr) {
      machine.report.not_supported("cuTexObjectCreate with a view of its resource");
      throw Failure(kNotSupported);
    }
    const cudaResourceDesc of = resource_of(*resource);
    const cudaTextureDesc how = texture_of(*texture, channels_of(of));
    succeed(cudaCreateTextureObject(handle, &of, &how, nullptr));
  });
}
CUresult cuTexObjectDestroy(CUtexObject handle) {
  return forward("cuTexObjectDestroy", cudaDestroyTextureObject, handle);
}

CUresult cuSurfObjectCreate(CUsurfObject* handle, const CUDA_RESOURCE_DESC* resource) {
  return answer_driver("cuSurfObjectCreate", Needs::context, [&](Machine&) {
    require(handle != nullptr && resource != nullptr);
    const cudaResourceDesc of = resource_of(*resource);
    succeed(cudaCreateSurfaceObject(handle, &of));
  });
}
CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return forward("cuSurfObjectDestroy", cudaDestroySurfaceObject, handle);
}

}  // extern "C"
