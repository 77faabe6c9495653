// Virtual memory management of the driver: addresses are reserved, memory is made, and the one is mapped to the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "simulator/stand_in/machine.hpp"

namespace convladder::stand_in {

/// The unit of addresses and memory here, as on GPUs since Pascal.
inline constexpr std::uint64_t kGranularity = std::uint64_t{2} << 20;

/// Memory without an address, in a file that any number of ranges of addresses show.
struct PhysicalMemory {
  std::uint64_t bytes = 0;
  int device = 0;
  int file = -1;
  bool may_be_exported = false;
  unsigned handles = 1;   ///< how often its handle has been given out
  unsigned mappings = 0;  ///< it ends when both are 0
};

class VirtualMemory {
 public:
  /// That of this process.
  static VirtualMemory& get();

  void* reserve(Machine& machine, std::uint64_t bytes, std::uint64_t alignment);
  /// Throws Failure(kInvalidValue) unless nothing is mapped in exactly this reservation.
  static void give_back(Machine& machine, void* address, std::uint64_t bytes);

  PhysicalMemory& create(Machine& machine, std::uint64_t bytes, int device, bool may_be_exported);
  /// Takes over a file that `file_of` has given out, maybe in another process.
  PhysicalMemory& import(Machine& machine, int file);
  /// Throws Failure(kInvalidValue) for a wrong handle.
  PhysicalMemory& at(const void* handle) const;
  void release(Machine& machine, PhysicalMemory& memory);

  void map(Machine& machine, void* address, std::uint64_t bytes, PhysicalMemory& memory);
  /// Throws Failure(kInvalidValue) unless the range consists of whole mappings.
  void unmap(Machine& machine, void* address, std::uint64_t bytes);
  /// The memory that is mapped there; nullptr if there is none.
  PhysicalMemory* mapped_at(const void* address) const;

  /// Lets the device reach the range. Throws Failure(kInvalidValue) unless all of it is mapped.
  void set_access(Machine& machine, void* address, std::uint64_t bytes, int device, bool may, bool may_write);
  /// Whether the device may reach the address, and write there.
  std::pair<bool, bool> access(const void* address, int device) const;

 private:
  struct Mapping {
    std::uint64_t end = 0;
    PhysicalMemory* memory = nullptr;
    std::uint64_t readers = 0;  ///< a bit for each device
    std::uint64_t writers = 0;
  };
  std::map<std::uint64_t, Mapping>::const_iterator mapping_at(std::uint64_t address) const;
  void drop_if_unused(Machine& machine, PhysicalMemory& memory);

  std::map<std::uint64_t, Mapping> mappings_;  // by beginning
  std::map<const void*, std::unique_ptr<PhysicalMemory>> memories_;
  std::uint64_t reservations_ = 0;
};

}  // namespace convladder::stand_in
