// Arrays, and copies from and to them.
#include "simulator/stand_in/arrays.hpp"

#include "simulator/stand_in/runtime/boxes.hpp"
#include "simulator/stand_in/runtime/texel_formats.hpp"

namespace convladder::stand_in {

using simulated::ChannelType;
using simulated::Geometry;
using simulated::TexelFormat;

TexelFormat format_of(const cudaChannelFormatDesc& description) {
  const int bits[] = {description.x, description.y, description.z, description.w};
  int channels = 0;
  while (channels < 4 && bits[channels] > 0) ++channels;
  for (int i = 0; i < 4; ++i) require(bits[i] == (i < channels ? bits[0] : 0));
  require(channels == 1 || channels == 2 || channels == 4);
  const bool is_unsigned = description.f == cudaChannelFormatKindUnsigned;
  switch (description.f) {
    case cudaChannelFormatKindUnsigned:
    case cudaChannelFormatKindSigned:
      require(bits[0] == 8 || bits[0] == 16 || bits[0] == 32);
      if (bits[0] == 8) return {is_unsigned ? ChannelType::u8 : ChannelType::s8, channels};
      if (bits[0] == 16) return {is_unsigned ? ChannelType::u16 : ChannelType::s16, channels};
      return {is_unsigned ? ChannelType::u32 : ChannelType::s32, channels};
    case cudaChannelFormatKindFloat:
      require(bits[0] == 16 || bits[0] == 32);
      return {bits[0] == 16 ? ChannelType::f16 : ChannelType::f32, channels};
    default:
      throw Failure(kNotSupported, "a texel format that is compressed or of several planes");
  }
}

cudaChannelFormatDesc description_of(const TexelFormat& format) {
  const int bits = simulated::channel_bytes(format.type) * 8;
  const auto of = [&](int channel) { return channel < format.channels ? bits : 0; };
  const cudaChannelFormatKind kind = simulated::is_floating(format.type)         ? cudaChannelFormatKindFloat
                                     : simulated::is_signed_integer(format.type) ? cudaChannelFormatKindSigned
                                                                                 : cudaChannelFormatKindUnsigned;
  return {of(0), of(1), of(2), of(3), kind};
}

namespace {

/// The geometry, distinguished as in cudaMalloc3DArray.
Geometry geometry_of(const cudaExtent& extent, unsigned flags) {
  const bool is_layered = (flags & cudaArrayLayered) != 0;
  if ((flags & cudaArrayCubemap) != 0) {
    require(extent.width == extent.height && extent.depth > 0 && extent.depth % 6 == 0);
    require(is_layered || extent.depth == 6);
    return is_layered ? Geometry::cube_layered : Geometry::cube;
  }
  if (is_layered) {
    require(extent.depth > 0);
    return extent.height == 0 ? Geometry::one_layered : Geometry::two_layered;
  }
  if (extent.depth > 0) {
    require(extent.height > 0);
    return Geometry::three;
  }
  return extent.height == 0 ? Geometry::one : Geometry::two;
}

cudaError_t allocate(const char* name, cudaArray_t* place, const cudaChannelFormatDesc* format,
                     const cudaExtent& extent, unsigned flags) {
  return answer(name, [&](Machine& machine) {
    require(place != nullptr && format != nullptr && extent.width > 0);
    constexpr unsigned kKnown =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if ((flags & ~kKnown) != 0) throw Failure(kNotSupported, "an array with flags for sparse or deferred memory");
    const std::uint64_t sizes[3] = {extent.width, extent.height, extent.depth};
    *place = reinterpret_cast<cudaArray_t>(
        machine.arrays().add(machine, geometry_of(extent, flags), format_of(*format), sizes, flags, name));
  });
}

/// One side of a copy of rows: memory, or an array from a byte of a row on.
struct Side {
  const void* memory = nullptr;
  std::size_t pitch = 0;
  const void* array = nullptr;
  std::size_t x = 0;
  std::size_t y = 0;
};

Rectangle place_of(Machine& machine, const Side& side, const Size3& size) {
  if (side.array == nullptr) return rows(side.memory, side.pitch);
  return machine.arrays().at(side.array).box(side.x, side.y, 0, size);
}

cudaError_t copy(const char* name, const Side& to, const Side& from, std::size_t width, std::size_t height,
                 cudaMemcpyKind kind, cudaStream_t stream, bool host_waits) {
  return answer(name, [&](Machine& machine) {
    for (const Side* const side : {&to, &from}) {
      require(side->array != nullptr || height <= 1 || width <= side->pitch, kInvalidPitchValue);
    }
    const Size3 size{width, height, 1};
    copy_rectangle(machine, place_of(machine, to, size), place_of(machine, from, size), size, kind_of(kind),
                   machine.stream_number(stream), host_waits);
  });
}

}  // namespace
}  // namespace convladder::stand_in

using namespace convladder::stand_in;

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, std::size_t width,
                            std::size_t height, unsigned flags) {
  return allocate("cudaMallocArray", array, format, {width, height, 0}, flags);
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags) {
  return allocate("cudaMalloc3DArray", array, format, extent, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return answer("cudaFreeArray", [&](Machine& machine) {
    if (array != nullptr) machine.arrays().remove(machine, array);
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
  return answer("cudaArrayGetInfo", [&](Machine& machine) {
    const Array& found = machine.arrays().at(array);
    if (format != nullptr) *format = description_of(found.resource.format);
    if (extent != nullptr) *extent = {found.asked[0], found.asked[1], found.asked[2]};
    if (flags != nullptr) *flags = found.flags;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return answer("cudaGetChannelDesc",
                [&](Machine& machine) { give(format, description_of(machine.arrays().at(array).resource.format)); });
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t array, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                                std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy("cudaMemcpy2DToArray", {.array = array, .x = x, .y = y}, {.memory = from, .pitch = pitch}, width, height,
              kind, nullptr, true);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t array, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return copy("cudaMemcpy2DToArrayAsync", {.array = array, .x = x, .y = y}, {.memory = from, .pitch = pitch}, width,
              height, kind, stream, false);
}

cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t array, std::size_t x, std::size_t y,
                                  std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy("cudaMemcpy2DFromArray", {.memory = to, .pitch = pitch}, {.array = array, .x = x, .y = y}, width, height,
              kind, nullptr, true);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t array, std::size_t x,
                                       std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return copy("cudaMemcpy2DFromArrayAsync", {.memory = to, .pitch = pitch}, {.array = array, .x = x, .y = y}, width,
              height, kind, stream, false);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from,
                                     std::size_t from_x, std::size_t from_y, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind) {
  return copy("cudaMemcpy2DArrayToArray", {.array = to, .x = to_x, .y = to_y},
              {.array = from, .x = from_x, .y = from_y}, width, height, kind, nullptr, true);
}

cudaError_t cudaMemcpyToArray(cudaArray_t array, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                              cudaMemcpyKind kind) {
  return answer("cudaMemcpyToArray", [&](Machine& machine) {
    const Array& found = machine.arrays().at(array);
    const std::size_t row = found.resource.width * found.texel_bytes();
    // Whole rows, which are the usual arguments of this deprecated call; otherwise it wraps at the end of a row.
    require(bytes <= row - std::min(x, row) || (x == 0 && bytes % row == 0), kNotSupported);
    const Size3 size{std::min(bytes, row), bytes <= row ? 1 : bytes / row, 1};
    copy_rectangle(machine, found.box(x, y, 0, size), rows(from, row), size, kind_of(kind),
                   machine.stream_number(nullptr), true);
  });
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t bytes,
                                cudaMemcpyKind kind) {
  return answer("cudaMemcpyFromArray", [&](Machine& machine) {
    const Array& found = machine.arrays().at(array);
    const std::size_t row = found.resource.width * found.texel_bytes();
    require(bytes <= row - std::min(x, row) || (x == 0 && bytes % row == 0), kNotSupported);
    const Size3 size{std::min(bytes, row), bytes <= row ? 1 : bytes / row, 1};
    copy_rectangle(machine, rows(to, row), found.box(x, y, 0, size), size, kind_of(kind),
                   machine.stream_number(nullptr), true);
  });
}

}  // extern "C"
