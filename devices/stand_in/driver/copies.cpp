// Copies and fills.
#include "devices/stand_in/copying.hpp"
#include "devices/stand_in/driver/answer.hpp"

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
              std::size_t width, std::size_t height, CUstream stream) {
  return answer_driver(name, Needs::context, [&](Machine& machine) {
    require(to % unit == 0 && width <= SIZE_MAX / unit);
    require(height <= 1 || (pitch >= width * unit && pitch % unit == 0));
    fill_rectangle(machine, {address_of(to), pitch, 0}, value, unit, {width * unit, height, 1},
                   machine.stream_number(stream));
  });
}

/// One side of a copy of boxes: where it lies, and where in it the box begins.
struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  std::size_t pitch, rows;
  std::size_t x, y, z, level;
};

Rectangle begin_of(Machine& machine, const char* name, const Side& side, const Size3& size) {
  if (side.type == CU_MEMORYTYPE_ARRAY) {
    machine.report.not_supported(std::string(name) + " of arrays");
    throw Failure(kNotSupported);
  }
  require(side.type == CU_MEMORYTYPE_HOST || side.type == CU_MEMORYTYPE_DEVICE || side.type == CU_MEMORYTYPE_UNIFIED);
  require(side.level == 0);
  const std::size_t pitch = side.pitch == 0 ? side.x + size.width : side.pitch;
  const std::size_t rows = side.rows == 0 ? side.y + size.height : side.rows;
  require(pitch >= side.x + size.width && (size.depth == 1 || rows >= side.y + size.height));
  void* const base = side.type == CU_MEMORYTYPE_HOST ? const_cast<void*>(side.host) : address_of(side.device);
  require(base != nullptr);
  const std::size_t slice = pitch * rows;
  return {static_cast<std::byte*>(base) + side.z * slice + side.y * pitch + side.x, pitch, slice};
}

CopyKind kind_of(CUmemorytype to, CUmemorytype from) {
  if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return CopyKind::by_address;
  if (to == CU_MEMORYTYPE_DEVICE) {
    return from == CU_MEMORYTYPE_DEVICE ? CopyKind::device_to_device : CopyKind::host_to_device;
  }
  return from == CU_MEMORYTYPE_DEVICE ? CopyKind::device_to_host : CopyKind::host_to_host;
}

CUresult copy_box(const char* name, const Side& to, const Side& from, const Size3& size, CUstream stream,
                  bool host_waits) {
  return answer_driver(name, Needs::context, [&](Machine& machine) {
    const int number = machine.stream_number(stream);
    if (size.width == 0 || size.height == 0 || size.depth == 0) return;
    copy_rectangle(machine, begin_of(machine, name, to, size), begin_of(machine, name, from, size), size,
                   kind_of(to.type, from.type), number, host_waits);
  });
}

CUresult copy_2d(const char* name, const CUDA_MEMCPY2D* p, CUstream stream, bool host_waits) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return copy_box(name, {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstPitch, 0, p->dstXInBytes, p->dstY, 0, 0},
                  {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcPitch, 0, p->srcXInBytes, p->srcY, 0, 0},
                  {p->WidthInBytes, p->Height, 1}, stream, host_waits);
}

/// Of both structures of three dimensions, which have these fields in common.
template <typename Parameters>
CUresult copy_3d(const char* name, const Parameters* p, CUstream stream, bool host_waits) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return copy_box(name,
                  {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstPitch, p->dstHeight, p->dstXInBytes, p->dstY,
                   p->dstZ, p->dstLOD},
                  {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcPitch, p->srcHeight, p->srcXInBytes, p->srcY,
                   p->srcZ, p->srcLOD},
                  {p->WidthInBytes, p->Height, p->Depth}, stream, host_waits);
}

/// Copies between contexts are copies on the one device.
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
  return fill("cuMemsetD8", to, 0, &value, sizeof value, count, 1, nullptr);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill("cuMemsetD16", to, 0, &value, sizeof value, count, 1, nullptr);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill("cuMemsetD32", to, 0, &value, sizeof value, count, 1, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill("cuMemsetD8Async", to, 0, &value, sizeof value, count, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  return fill("cuMemsetD16Async", to, 0, &value, sizeof value, count, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return fill("cuMemsetD32Async", to, 0, &value, sizeof value, count, 1, stream);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return fill("cuMemsetD2D8", to, pitch, &value, sizeof value, width, height, nullptr);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                          std::size_t height) {
  return fill("cuMemsetD2D16", to, pitch, &value, sizeof value, width, height, nullptr);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height) {
  return fill("cuMemsetD2D32", to, pitch, &value, sizeof value, width, height, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                           std::size_t height, CUstream stream) {
  return fill("cuMemsetD2D8Async", to, pitch, &value, sizeof value, width, height, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return fill("cuMemsetD2D16Async", to, pitch, &value, sizeof value, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height,
                            CUstream stream) {
  return fill("cuMemsetD2D32Async", to, pitch, &value, sizeof value, width, height, stream);
}

}  // extern "C"
