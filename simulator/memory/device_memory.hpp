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
  bool freed = false;          ///< kept for messages
  std::uint64_t devices = ~0;  ///< a bit for each device that may always reach it; visible memory: all
};

/// Addresses that are reserved, of which parts may be mapped (virtual memory management). What is mapped and may be
/// reached is an allocation, and one with its neighbours.
struct Reservation {
  std::uint64_t end = 0;
  std::string label;
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

  // --- several devices ----------------------------------------------------------------------------------------------

  /// From now on allocations are that device's, and kernels are its own.
  void set_device(int device) { device_ = device; }
  int device() const { return device_; }
  /// Kernels of `device` may reach the memory of `peer`, or no longer.
  void let_reach(int device, int peer, bool may);
  /// The devices that may always reach the live allocation that begins there; a bit for each.
  void set_devices(std::uint64_t begin, std::uint64_t devices) { allocations_.at(begin).devices = devices; }
  /// While a kernel runs, `find` knows only what its device may reach; the host reaches all.
  void run_kernel(bool runs) { kernel_runs_ = runs; }

  // --- addresses and what is behind them apart ----------------------------------------------------------------------

  /// Reserves addresses, a multiple of `alignment`; `bytes` is a multiple of a page. Throws std::bad_alloc.
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment, std::string_view label);
  /// Gives addresses back. Throws std::invalid_argument if something is mapped there, or these were not reserved so.
  void give_back(std::uint64_t address, std::uint64_t bytes);
  /// Puts a file's pages there, which may be at other addresses as well; nothing reaches them until `let_access`.
  void map(std::uint64_t address, std::uint64_t bytes, int file, std::uint64_t offset);
  void unmap(std::uint64_t address, std::uint64_t bytes);
  /// Lets these devices reach mapped pages; none: nobody does.
  void let_access(std::uint64_t address, std::uint64_t bytes, std::uint64_t devices);
  /// Moves an allocation of `allocate` into a file, which other processes can map: its descriptor, which stays this
  /// object's.
  int share(std::uint64_t address);
  /// As `allocate`, for the pages of a file.
  std::uint64_t attach(int file, std::uint64_t bytes, std::string_view label);
  /// The reservation that holds the address, or nullptr.
  const Reservation* reservation(std::uint64_t address) const;

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
  bool may_reach(const Allocation& allocation) const;
  /// Makes [begin, end) no part of any allocation.
  void cut_out(std::uint64_t begin, std::uint64_t end);

  std::byte* base_ = nullptr;
  std::uint64_t window_bytes_ = kDeviceWindowBytes;  // reserved, from the window's beginning on
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::uint64_t next_ = kGlobalWindow;
  std::uint64_t next_visible_ = kVisibleWindow;
  std::map<std::uint64_t, Allocation> allocations_;    // by beginning
  std::map<std::uint64_t, Reservation> reservations_;  // by beginning
  std::map<std::uint64_t, int> shared_;                // files of shared allocations, by beginning
  int device_ = 0;
  bool kernel_runs_ = false;
  std::map<int, std::uint64_t> peers_;  // by device: a bit for each device whose memory it reaches
};

}  // namespace convladder::simulated
