// Copies and fills between any two places, in one, two and three dimensions.
#include <cstring>
#include <functional>

#include "simulator/stand_in/runtime/boxes.hpp"

using namespace convladder::stand_in;

namespace {

cudaError_t copy(const char* name, const Rectangle& to, const Rectangle& from, const Size3& size, cudaMemcpyKind kind,
                 cudaStream_t stream, bool host_waits) {
  return answer(name, [&](Machine& machine) {
    copy_rectangle(machine, to, from, size, kind_of(kind), machine.stream_number(stream), host_waits);
  });
}

/// The pitch of a single row is not looked at: programs give what it would be with more.
cudaError_t copy_rows(const char* name, const Rectangle& to, const Rectangle& from, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, cudaStream_t stream, bool host_waits) {
  return answer(name, [&](Machine& machine) {
    require(height <= 1 || (width <= to.pitch && width <= from.pitch), kInvalidPitchValue);
    copy_rectangle(machine, to, from, {width, height, 1}, kind_of(kind), machine.stream_number(stream), host_waits);
  });
}

cudaError_t fill(const char* name, const Rectangle& to, int value, const Size3& size, cudaStream_t stream,
                 bool host_waits) {
  return answer(name, [&](Machine& machine) {
    fill_rectangle(machine, to, &value, 1, size, machine.stream_number(stream), host_waits);
  });
}

cudaError_t copy_3d(const char* name, const cudaMemcpy3DParms* p, cudaStream_t stream, bool host_waits) {
  return answer(name, [&](Machine& machine) {
    require(p != nullptr, kInvalidValue);
    const BoxCopy copy = box_copy(machine, *p);
    copy_rectangle(machine, copy.to, copy.from, copy.size, copy.kind, machine.stream_number(stream), host_waits);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy("cudaMemcpy", line(to), line(from), {bytes, 1, 1}, kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy("cudaMemcpyAsync", line(to), line(from), {bytes, 1, 1}, kind, stream, false);
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  return copy_rows("cudaMemcpy2D", rows(to, to_pitch), rows(from, from_pitch), width, height, kind, nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows("cudaMemcpy2DAsync", rows(to, to_pitch), rows(from, from_pitch), width, height, kind, stream, false);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) { return copy_3d("cudaMemcpy3D", p, nullptr, true); }

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return copy_3d("cudaMemcpy3DAsync", p, stream, false);
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return fill("cudaMemset", line(to), value, {bytes, 1, 1}, nullptr, true);
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return fill("cudaMemsetAsync", line(to), value, {bytes, 1, 1}, stream, false);
}

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return fill("cudaMemset2D", rows(to, pitch), value, {width, height, 1}, nullptr, true);
}

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  return fill("cudaMemset2DAsync", rows(to, pitch), value, {width, height, 1}, stream, false);
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill("cudaMemset3D", box(to, {}), value, {extent.width, extent.height, extent.depth}, nullptr, true);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return fill("cudaMemset3DAsync", box(to, {}), value, {extent.width, extent.height, extent.depth}, stream, false);
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return answer("cudaGetSymbolAddress", [&](Machine& machine) {
    require(address != nullptr);
    *address = machine.address_of(machine.variable(symbol));
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return answer("cudaGetSymbolSize",
                [&](Machine& machine) { give(bytes, static_cast<std::size_t>(machine.variable(symbol).bytes)); });
}

static cudaError_t copy_symbol(const char* name, const void* symbol, std::size_t offset, void* to, const void* from,
                               std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool host_waits) {
  return answer(name, [&](Machine& machine) {
    require(to != nullptr || from != nullptr, kInvalidValue);
    std::byte* const place = symbol_place(machine, symbol, offset, bytes);
    require(kind == cudaMemcpyDefault || kind == cudaMemcpyDeviceToDevice ||
                kind == (to == nullptr ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost),
            kInvalidCopyDirection);
    copy_rectangle(machine, line(to == nullptr ? place : to), line(from == nullptr ? place : from), {bytes, 1, 1},
                   kind_of(kind), machine.stream_number(stream), host_waits);
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  return copy_symbol("cudaMemcpyToSymbol", symbol, offset, nullptr, from, bytes, kind, nullptr, true);
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind kind) {
  return copy_symbol("cudaMemcpyFromSymbol", symbol, offset, to, nullptr, bytes, kind, nullptr, true);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol("cudaMemcpyToSymbolAsync", symbol, offset, nullptr, from, bytes, kind, stream, false);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol("cudaMemcpyFromSymbolAsync", symbol, offset, to, nullptr, bytes, kind, stream, false);
}

}  // extern "C"
