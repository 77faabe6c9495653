// The rows and boxes of bytes that copies of the runtime API name.
#pragma once

#include "simulator/stand_in/arrays.hpp"
#include "simulator/stand_in/copying.hpp"
#include "simulator/stand_in/runtime/answer.hpp"

namespace convladder::stand_in {

inline CopyKind kind_of(cudaMemcpyKind kind) {
  require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, kInvalidCopyDirection);
  return static_cast<CopyKind>(kind);
}

inline Rectangle line(const void* address) { return {const_cast<void*>(address), 0, 0}; }
inline Rectangle rows(const void* address, std::size_t pitch) { return {const_cast<void*>(address), pitch, 0}; }

/// The beginning of a three-dimensional copy in memory with a pitch; x of the place is in bytes.
inline Rectangle box(const cudaPitchedPtr& memory, const cudaPos& at) {
  const std::size_t slice = memory.pitch * memory.ysize;
  auto* const begin = static_cast<std::byte*>(memory.ptr) + at.z * slice + at.y * memory.pitch + at.x;
  return {begin, memory.pitch, slice};
}

/// A copy in three dimensions between memory and arrays.
struct BoxCopy {
  Rectangle to;
  Rectangle from;
  Size3 size;
  CopyKind kind = CopyKind::by_address;
};

/// The copy that the parameters describe. With an array, the width and its places count texels. Throws Failure.
inline BoxCopy box_copy(Machine& machine, const cudaMemcpy3DParms& p) {
  const Array* const from = p.srcArray == nullptr ? nullptr : &machine.arrays().at(p.srcArray);
  const Array* const to = p.dstArray == nullptr ? nullptr : &machine.arrays().at(p.dstArray);
  require((from == nullptr) != (p.srcPtr.ptr == nullptr) && (to == nullptr) != (p.dstPtr.ptr == nullptr));
  require(from == nullptr || to == nullptr || from->texel_bytes() == to->texel_bytes());
  const std::size_t unit = from != nullptr ? from->texel_bytes() : to != nullptr ? to->texel_bytes() : 1;
  const Size3 size{p.extent.width * unit, p.extent.height, p.extent.depth};
  const auto place = [&](const Array* array, const cudaPitchedPtr& memory, const cudaPos& at) {
    return array == nullptr ? box(memory, at) : array->box(at.x * unit, at.y, at.z, size);
  };
  return {place(to, p.dstPtr, p.dstPos), place(from, p.srcPtr, p.srcPos), size, kind_of(p.kind)};
}

/// The bytes of a variable from `offset` on. Throws Failure if it is too small.
inline std::byte* symbol_place(Machine& machine, const void* symbol, std::size_t offset, std::size_t bytes) {
  const Variable& variable = machine.variable(symbol);
  require(offset <= variable.bytes && bytes <= variable.bytes - offset);
  return machine.address_of(variable) + offset;
}

}  // namespace convladder::stand_in
