// The rows and boxes of bytes that the runtime API's copies name.
#pragma once

#include "devices/stand_in/copying.hpp"
#include "devices/stand_in/runtime/answer.hpp"

namespace convladder::stand_in {

inline CopyKind kind_of(cudaMemcpyKind kind) {
  require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault, kInvalidCopyDirection);
  return static_cast<CopyKind>(kind);
}

inline Rectangle line(const void* address) { return {const_cast<void*>(address), 0, 0}; }
inline Rectangle rows(const void* address, std::size_t pitch) { return {const_cast<void*>(address), pitch, 0}; }

/// Where a three-dimensional copy begins in memory with a pitch; x of the place is in bytes.
inline Rectangle box(const cudaPitchedPtr& memory, const cudaPos& at) {
  const std::size_t slice = memory.pitch * memory.ysize;
  auto* const begin = static_cast<std::byte*>(memory.ptr) + at.z * slice + at.y * memory.pitch + at.x;
  return {begin, memory.pitch, slice};
}

/// The bytes of a variable from `offset` on. Throws Failure if it does not hold so many.
inline std::byte* symbol_place(Machine& machine, const void* symbol, std::size_t offset, std::size_t bytes) {
  const Variable& variable = machine.variable(symbol);
  require(offset <= variable.bytes && bytes <= variable.bytes - offset);
  return machine.address_of(variable) + offset;
}

}  // namespace convladder::stand_in
