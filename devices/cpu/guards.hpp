// What lies around memory of the cpu device: bytes that are watched, up to pages that nobody can read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace convladder {

/// Memory of a tensor ends where its page does, but for less than a vector, so that a read beyond it faults. What is
/// left of its pages in front of it and behind it holds `kGuardByte`.
struct GuardedMemory {
  std::byte* pages = nullptr;    ///< where its first page begins
  std::size_t page_bytes = 0;    ///< of all its pages
  std::byte* address = nullptr;  ///< of the tensor
  std::size_t bytes = 0;         ///< of the tensor

  std::span<std::byte> before() const { return {pages, address}; }
  std::span<std::byte> behind() const { return {address + bytes, pages + page_bytes}; }
};

inline constexpr std::byte kGuardByte{0xFF};  ///< four of them are a NaN

/// Pages that so many bytes need.
std::size_t guarded_page_bytes(std::size_t bytes);
/// A tensor in pages of `guarded_page_bytes`.
GuardedMemory guarded_in(std::byte* pages, std::size_t bytes);
/// The same, by where the tensor lies.
GuardedMemory guarded_at(std::byte* address, std::size_t bytes);

/// What of the bytes around a tensor was overwritten, in one line; empty if nothing was.
std::string guards_violation(std::span<const std::byte> before, std::span<const std::byte> behind,
                             std::string_view label);

}  // namespace convladder
