// The surroundings of a tensor in the cpu device's memory: watched bytes, then pages that nobody can read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace convladder {

/// A tensor ends at the end of a page, or less than a vector before it, so that a read beyond it faults. The rest of
/// its pages, before and behind it, holds `kGuardByte`.
struct GuardedMemory {
  std::byte* pages = nullptr;    ///< the beginning of the first page
  std::size_t page_bytes = 0;    ///< the size of all pages
  std::byte* address = nullptr;  ///< the beginning of the tensor
  std::size_t bytes = 0;         ///< the size of the tensor

  std::span<std::byte> before() const { return {pages, address}; }
  std::span<std::byte> behind() const { return {address + bytes, pages + page_bytes}; }
};

inline constexpr std::byte kGuardByte{0xFF};  ///< four of them are a NaN

/// The bytes of the pages that a tensor of `bytes` needs.
std::size_t guarded_page_bytes(std::size_t bytes);
/// Places a tensor in pages of `guarded_page_bytes`.
GuardedMemory guarded_in(std::byte* pages, std::size_t bytes);
/// The guarded memory of a tensor that lies at `address`.
GuardedMemory guarded_at(std::byte* address, std::size_t bytes);

/// Reports in one line which of the bytes around a tensor were overwritten; empty if none were.
std::string guards_violation(std::span<const std::byte> before, std::span<const std::byte> behind,
                             std::string_view label);

}  // namespace convladder
