// Copies and fills.
#include "simulator/stand_in/arrays.hpp"
#include "simulator/stand_in/copying.hpp"
#include "simulator/stand_in/driver/answer.hpp"

using namespace convladder::stand_in;

namespace {

CUresult copy(const char* name, const void* to, const void* from, std::size_t bytes, CopyKind kind, CUstream stream,
              bool host_waits) {
  return answer_driver(name, Needs::context, [&](Machine& machine) {
    copy_rectangle(machine, {const_cast<void*>(to), 0, 0}, {const_cast<void*>(from), 0, 0}, {bytes, 1, 1}, kind,
                   machine.stream_number(stream), host_waits);
  });
}

CUresult fill(const char* name, CUdeviceptr to, std::size_t pitch, const void* value, std::size_t unit,
              std::size_t width, std::size_t height, CUstream stream, bool host_waits) {
  return answer_driver(name, Needs::context, [&](Machine& machine) {
    require(to % unit == 0 && width <= SIZE_MAX / unit);
    require(height <= 1 || (pitch >= width * unit && pitch % unit == 0));
    fill_rectangle(machine, {address_of(to), pitch, 0}, value, unit, {width * unit, height, 1},
                   machine.stream_number(stream), host_waits);
  });
}

/// One side of a copy of boxes: its place, and the beginning of the box in it.
struct Side {
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  const void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  std::size_t pitch = 0;
  std::size_t rows = 0;
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t z = 0;
  std::size_t level = 0;
};

Rectangle begin_of(Machine& machine, const Side& side, const Size3& size) {
  require(side.level == 0);
  if (side.type == CU_MEMORYTYPE_ARRAY) return machine.arrays().at(side.array).box(side.x, side.y, side.z, size);
  require(side.type == CU_MEMORYTYPE_HOST || side.type == CU_MEMORYTYPE_DEVICE || side.type == CU_MEMORYTYPE_UNIFIED);
  const std::size_t pitch = side.pitch == 0 ? side.x + size.width : side.pitch;
  const std::size_t rows = side.rows == 0 ? side.y + size.height : side.rows;
  require(pitch >= side.x + size.width && (size.depth == 1 || rows >= side.y + size.height));
  void* const base = side.type == CU_MEMORYTYPE_HOST ? const_cast<void*>(side.host) : address_of(side.device);
  require(base != nullptr);
  const std::size_t slice = pitch * rows;
  return {static_cast<std::byte*>(base) + side.z * slice + side.y * pitch + side.x, pitch, slice};
}

/// The direction of a copy; arrays are on the device.
CopyKind kind_of(CUmemorytype to, CUmemorytype from) {
  if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return CopyKind::by_address;
  if (to != CU_MEMORYTYPE_HOST) {
    return from != CU_MEMORYTYPE_HOST ? CopyKind::device_to_device : CopyKind::host_to_device;
  }
  return from != CU_MEMORYTYPE_HOST ? CopyKind::device_to_host : CopyKind::host_to_host;
}

CUresult copy_box(const char* name, const Side& to, const Side& from, const Size3& size, CUstream stream,
                  bool host_waits) {
  return answer_driver(name, Needs::context, [&](Machine& machine) {
    const int number = machine.stream_number(stream);
    if (size.width == 0 || size.height == 0 || size.depth == 0) return;
    copy_rectangle(machine, begin_of(machine, to, size), begin_of(machine, from, size), size,
                   kind_of(to.type, from.type), number, host_waits);
  });
}

/// An array from a byte of its first row on.
Side in_array(CUarray array, std::size_t at) { return {.type = CU_MEMORYTYPE_ARRAY, .array = array, .x = at}; }

CUresult copy_2d(const char* name, const CUDA_MEMCPY2D* p, CUstream stream, bool host_waits) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return copy_box(
      name, {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstPitch, 0, p->dstXInBytes, p->dstY, 0, 0},
      {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcPitch, 0, p->srcXInBytes, p->srcY, 0, 0},
      {p->WidthInBytes, p->Height, 1}, stream, host_waits);
}

/// Fills both sides from either structure for three dimensions, which have these fields in common.
template <typename Parameters>
CUresult copy_3d(const char* name, const Parameters* p, CUstream stream, bool host_waits) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return copy_box(name,
                  {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstPitch, p->dstHeight, p->dstXInBytes,
                   p->dstY, p->dstZ, p->dstLOD},
                  {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcPitch, p->srcHeight, p->srcXInBytes,
                   p->srcY, p->srcZ, p->srcLOD},
                  {p->WidthInBytes, p->Height, p->Depth}, stream, host_waits);
}

/// Copies between contexts are copies within the one device.
bool are_contexts(CUcontext to, CUcontext from) {
  return answer_driver("cuMemcpyPeer", Needs::context, [&](Machine& machine) {
           static_cast<void>(machine.contexts.at(to));
           static_cast<void>(machine.contexts.at(from));
         }) == CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy("cuMemcpy", address_of(to), address_of(from), bytes, CopyKind::by_address, nullptr, true);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy("cuMemcpyAsync", address_of(to), address_of(from), bytes, CopyKind::by_address, stream, false);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy("cuMemcpyHtoD", address_of(to), from, bytes, CopyKind::host_to_device, nullptr, true);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy("cuMemcpyHtoDAsync", address_of(to), from, bytes, CopyKind::host_to_device, stream, false);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy("cuMemcpyDtoH", to, address_of(from), bytes, CopyKind::device_to_host, nullptr, true);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy("cuMemcpyDtoHAsync", to, address_of(from), bytes, CopyKind::device_to_host, stream, false);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy("cuMemcpyDtoD", address_of(to), address_of(from), bytes, CopyKind::device_to_device, nullptr, true);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy("cuMemcpyDtoDAsync", address_of(to), address_of(from), bytes, CopyKind::device_to_device, stream, false);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                      std::size_t bytes) {
  if (!are_contexts(to_context, from_context)) return CUDA_ERROR_INVALID_CONTEXT;
  return copy("cuMemcpyPeer", address_of(to), address_of(from), bytes, CopyKind::device_to_device, nullptr, true);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           std::size_t bytes, CUstream stream) {
  if (!are_contexts(to_context, from_context)) return CUDA_ERROR_INVALID_CONTEXT;
  return copy("cuMemcpyPeerAsync", address_of(to), address_of(from), bytes, CopyKind::device_to_device, stream, false);
}

CUresult cuMemcpyHtoA_v2(CUarray to, std::size_t at, const void* from, std::size_t bytes) {
  return copy_box("cuMemcpyHtoA", in_array(to, at), {.type = CU_MEMORYTYPE_HOST, .host = from}, {bytes, 1, 1}, nullptr,
                  true);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray to, std::size_t at, const void* from, std::size_t bytes, CUstream stream) {
  return copy_box("cuMemcpyHtoAAsync", in_array(to, at), {.type = CU_MEMORYTYPE_HOST, .host = from}, {bytes, 1, 1},
                  stream, false);
}
CUresult cuMemcpyAtoH_v2(void* to, CUarray from, std::size_t at, std::size_t bytes) {
  return copy_box("cuMemcpyAtoH", {.type = CU_MEMORYTYPE_HOST, .host = to}, in_array(from, at), {bytes, 1, 1}, nullptr,
                  true);
}
CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, std::size_t at, std::size_t bytes, CUstream stream) {
  return copy_box("cuMemcpyAtoHAsync", {.type = CU_MEMORYTYPE_HOST, .host = to}, in_array(from, at), {bytes, 1, 1},
                  stream, false);
}
CUresult cuMemcpyDtoA_v2(CUarray to, std::size_t at, CUdeviceptr from, std::size_t bytes) {
  return copy_box("cuMemcpyDtoA", in_array(to, at), {.type = CU_MEMORYTYPE_DEVICE, .device = from}, {bytes, 1, 1},
                  nullptr, true);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, std::size_t at, std::size_t bytes) {
  return copy_box("cuMemcpyAtoD", {.type = CU_MEMORYTYPE_DEVICE, .device = to}, in_array(from, at), {bytes, 1, 1},
                  nullptr, true);
}
CUresult cuMemcpyAtoA_v2(CUarray to, std::size_t to_at, CUarray from, std::size_t from_at, std::size_t bytes) {
  return copy_box("cuMemcpyAtoA", in_array(to, to_at), in_array(from, from_at), {bytes, 1, 1}, nullptr, true);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* p) { return copy_2d("cuMemcpy2D", p, nullptr, true); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* p) { return copy_2d("cuMemcpy2DUnaligned", p, nullptr, true); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* p, CUstream stream) {
  return copy_2d("cuMemcpy2DAsync", p, stream, false);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* p) { return copy_3d("cuMemcpy3D", p, nullptr, true); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* p, CUstream stream) {
  return copy_3d("cuMemcpy3DAsync", p, stream, false);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* p) { return copy_3d("cuMemcpy3DPeer", p, nullptr, true); }
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* p, CUstream stream) {
  return copy_3d("cuMemcpy3DPeerAsync", p, stream, false);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill("cuMemsetD8", to, 0, &value, sizeof value, count, 1, nullptr, true);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill("cuMemsetD16", to, 0, &value, sizeof value, count, 1, nullptr, true);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill("cuMemsetD32", to, 0, &value, sizeof value, count, 1, nullptr, true);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill("cuMemsetD8Async", to, 0, &value, sizeof value, count, 1, stream, false);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  return fill("cuMemsetD16Async", to, 0, &value, sizeof value, count, 1, stream, false);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return fill("cuMemsetD32Async", to, 0, &value, sizeof value, count, 1, stream, false);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return fill("cuMemsetD2D8", to, pitch, &value, sizeof value, width, height, nullptr, true);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                          std::size_t height) {
  return fill("cuMemsetD2D16", to, pitch, &value, sizeof value, width, height, nullptr, true);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height) {
  return fill("cuMemsetD2D32", to, pitch, &value, sizeof value, width, height, nullptr, true);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                           std::size_t height, CUstream stream) {
  return fill("cuMemsetD2D8Async", to, pitch, &value, sizeof value, width, height, stream, false);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return fill("cuMemsetD2D16Async", to, pitch, &value, sizeof value, width, height, stream, false);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height,
                            CUstream stream) {
  return fill("cuMemsetD2D32Async", to, pitch, &value, sizeof value, width, height, stream, false);
}

}  // extern "C"
