// The simulated device's global memory: one address space of its own, every allocation known by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace convladder::simulated {

/// The windows of the state spaces in generic addresses. Global addresses are generic addresses; addresses of shared
/// and local memory and of parameters are offsets that `cvta` moves into their window.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 40;
inline constexpr std::uint64_t kParameterWindow = std::uint64_t{3} << 40;
inline constexpr std::uint64_t kFunctionWindow = std::uint64_t{4} << 40;  // no memory: addresses of functions
inline constexpr std::uint64_t kTextureWindow = std::uint64_t{5} << 40;   // no memory: handles of textures
inline constexpr std::uint64_t kGlobalWindow = std::uint64_t{16} << 40;
inline constexpr std::uint64_t kGlobalWindowBytes = std::uint64_t{512} << 30;
/// The part of the window that is the device's own; after it comes memory that the host has at the same addresses.
inline constexpr std::uint64_t kDeviceWindowBytes = std::uint64_t{384} << 30;
inline constexpr std::uint64_t kVisibleWindow = kGlobalWindow + kDeviceWindowBytes;

/// A piece of global memory, from `begin` to before `end`.
struct Allocation {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string label;
  bool freed = false;  ///< kept for messages
};

/// Addresses depend only on the order and sizes of the allocations, so that every run counts the same sectors.
class DeviceMemory {
 public:
  /// `capacity` bounds the sum of the allocations at a time. Where the process may not have all addresses of global
  /// memory (`ulimit -v`), takes half of those that it may have; throws std::bad_alloc where these are next to none.
  explicit DeviceMemory(std::uint64_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Allocates memory, 256-byte aligned, with unused bytes on both sides. Throws std::bad_alloc beyond the capacity.
  /// Addresses are given out once, and a second time only when there are no others.
  std::uint64_t allocate(std::uint64_t bytes, std::string_view label);
  /// Memory that the host has at the same address: managed and pinned memory. Page-aligned. Throws std::bad_alloc.
  std::uint64_t allocate_visible(std::uint64_t bytes, std::string_view label);
  /// Adds memory of the host, which keeps its address and its owner; `free` only forgets it. Throws
  /// std::invalid_argument for memory that has been added already.
  void adopt(void* address, std::uint64_t bytes, std::string_view label);
  /// Throws std::invalid_argument for an address at which no live allocation begins.
  void free(std::uint64_t address);

  /// Whether there are fewer addresses than global memory has.
  bool is_cramped() const { return window_bytes_ < kDeviceWindowBytes; }
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t used() const { return used_; }

  /// The host's address of a device address. Only addresses inside live allocations may be accessed.
  std::byte* host(std::uint64_t address) const {
    const std::uint64_t offset = address - kGlobalWindow;
    if (offset < kDeviceWindowBytes) [[likely]] {
      return base_ + offset;
    }
    return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr): the host's own
  }

  /// The allocation at or, failing that, nearest below the address, freed ones included; none below the first.
  const Allocation* nearest(std::uint64_t address) const;
  /// The allocation that begins above the address, freed ones included; none above the last.
  const Allocation* next(std::uint64_t address) const;
  /// The live allocation that holds the address, or nullptr.
  const Allocation* find(std::uint64_t address) const;

 private:
  std::uint64_t place_for(std::uint64_t span);

  std::byte* base_ = nullptr;
  std::uint64_t window_bytes_ = kDeviceWindowBytes;  // reserved, from the window's beginning on
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::uint64_t next_ = kGlobalWindow;
  std::uint64_t next_visible_ = kVisibleWindow;
  std::map<std::uint64_t, Allocation> allocations_;  // by beginning
};

}  // namespace convladder::simulated
