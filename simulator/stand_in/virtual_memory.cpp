#include "simulator/stand_in/virtual_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

namespace convladder::stand_in {
namespace {

std::uint64_t number_of_address(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

/// The memory of the device, with addresses apart from what is behind them.
simulated::DeviceMemory& memory_of(Machine& machine) {
  if (machine.settings.real_clock) throw Failure(kNotSupported, "virtual memory management with the real clock");
  return machine.device().memory();
}

}  // namespace

VirtualMemory& VirtualMemory::get() {
  static auto& one = *new VirtualMemory;  // never destroyed, like the machine: programs call until their very end
  return one;
}

void* VirtualMemory::reserve(Machine& machine, std::uint64_t bytes, std::uint64_t alignment) {
  const std::string label = fmt::format("virtual memory {}", ++reservations_);
  try {
    const std::uint64_t address = memory_of(machine).reserve(bytes, std::max(alignment, kGranularity), label);
    machine.report.allocated({label, "cuMemAddressReserve", bytes, calling_places()});
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): addresses are numbers here
  } catch (const std::bad_alloc&) {
    throw Failure(kOutOfMemory, "no addresses are left");
  }
}

void VirtualMemory::give_back(Machine& machine, void* address, std::uint64_t bytes) {
  VirtualMemory& own = get();
  const auto next = own.mappings_.lower_bound(number_of_address(address));
  if (next != own.mappings_.end() && next->first < number_of_address(address) + bytes) {
    throw Failure(kInvalidValue, "something is mapped there");
  }
  try {
    memory_of(machine).give_back(number_of_address(address), bytes);
  } catch (const std::invalid_argument& error) {
    throw Failure(kInvalidValue, error.what());
  }
}

PhysicalMemory& VirtualMemory::create(Machine& machine, std::uint64_t bytes, int device, bool may_be_exported) {
  const OnDevice on_device(machine, device);
  static_cast<void>(memory_of(machine));
  if (bytes > machine.free_bytes()) throw Failure(kOutOfMemory);
  const int file = memfd_create("convladder device memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    if (file >= 0) close(file);
    throw Failure(kOutOfMemory, "the host has no room for it");
  }
  auto made = std::make_unique<PhysicalMemory>(
      PhysicalMemory{.bytes = bytes, .device = device, .file = file, .may_be_exported = may_be_exported});
  machine.uses(device, static_cast<std::int64_t>(bytes));
  PhysicalMemory& memory = *made;
  memories_[made.get()] = std::move(made);
  return memory;
}

PhysicalMemory& VirtualMemory::import(Machine& machine, int file) {
  static_cast<void>(memory_of(machine));
  struct stat known {};
  const int own = dup(file);
  if (own < 0 || fstat(own, &known) != 0 || known.st_size <= 0 ||
      static_cast<std::uint64_t>(known.st_size) % kGranularity != 0) {
    if (own >= 0) close(own);
    throw Failure(kInvalidValue, "a file that is not exported memory");
  }
  auto made = std::make_unique<PhysicalMemory>(PhysicalMemory{.bytes = static_cast<std::uint64_t>(known.st_size),
                                                              .device = Contexts::current_device(),
                                                              .file = own,
                                                              .may_be_exported = true});
  machine.uses(made->device, static_cast<std::int64_t>(made->bytes));
  PhysicalMemory& memory = *made;
  memories_[made.get()] = std::move(made);
  return memory;
}

PhysicalMemory& VirtualMemory::at(const void* handle) const {
  const auto found = memories_.find(handle);
  if (found == memories_.end() || found->second->handles == 0) throw Failure(kInvalidValue, "no handle of memory");
  return *found->second;
}

void VirtualMemory::drop_if_unused(Machine& machine, PhysicalMemory& memory) {
  if (memory.handles > 0 || memory.mappings > 0) return;
  machine.uses(memory.device, -static_cast<std::int64_t>(memory.bytes));
  close(memory.file);
  memories_.erase(&memory);
}

void VirtualMemory::release(Machine& machine, PhysicalMemory& memory) {
  --memory.handles;
  drop_if_unused(machine, memory);
}

std::map<std::uint64_t, VirtualMemory::Mapping>::const_iterator VirtualMemory::mapping_at(std::uint64_t address) const {
  auto above = mappings_.upper_bound(address);
  if (above == mappings_.begin()) return mappings_.end();
  --above;
  return address < above->second.end ? above : mappings_.end();
}

PhysicalMemory* VirtualMemory::mapped_at(const void* address) const {
  const auto found = mapping_at(number_of_address(address));
  return found == mappings_.end() ? nullptr : found->second.memory;
}

void VirtualMemory::map(Machine& machine, void* address, std::uint64_t bytes, PhysicalMemory& memory) {
  const std::uint64_t begin = number_of_address(address);
  const simulated::Reservation* const reserved = memory_of(machine).reservation(begin);
  if (reserved == nullptr || bytes > reserved->end - begin) throw Failure(kInvalidValue, "addresses not reserved");
  if (bytes > memory.bytes) throw Failure(kInvalidValue, "more than the memory has");
  const auto next = mappings_.lower_bound(begin);
  if (mapped_at(address) != nullptr || (next != mappings_.end() && next->first < begin + bytes)) {
    throw Failure(kInvalidValue, "something is mapped there");
  }
  try {
    memory_of(machine).map(begin, bytes, memory.file, 0);
  } catch (const std::bad_alloc&) {
    throw Failure(kOutOfMemory, "the host cannot map it");
  }
  mappings_[begin] = {begin + bytes, &memory};
  ++memory.mappings;
}

void VirtualMemory::unmap(Machine& machine, void* address, std::uint64_t bytes) {
  const std::uint64_t begin = number_of_address(address);
  std::uint64_t at = begin;
  while (at < begin + bytes) {
    const auto found = mappings_.find(at);
    if (found == mappings_.end() || found->second.end > begin + bytes) {
      throw Failure(kInvalidValue, "it is not made of whole mappings");
    }
    at = found->second.end;
  }
  machine.synchronize_all();
  memory_of(machine).unmap(begin, bytes);
  for (at = begin; at < begin + bytes;) {
    const auto found = mappings_.find(at);
    PhysicalMemory& memory = *found->second.memory;
    at = found->second.end;
    machine.forget_mapped(found->first);
    mappings_.erase(found);
    --memory.mappings;
    drop_if_unused(machine, memory);
  }
}

void VirtualMemory::set_access(Machine& machine, void* address, std::uint64_t bytes, int device, bool may,
                               bool may_write) {
  const std::uint64_t begin = number_of_address(address);
  std::uint64_t at = begin;
  while (at < begin + bytes) {
    const auto found = mappings_.find(at);
    if (found == mappings_.end() || found->second.end > begin + bytes) {
      throw Failure(kInvalidValue, "it is not made of whole mappings");
    }
    at = found->second.end;
  }
  const std::uint64_t bit = std::uint64_t{1} << device;
  for (at = begin; at < begin + bytes;) {
    Mapping& mapping = mappings_.find(at)->second;
    mapping.readers = may ? mapping.readers | bit : mapping.readers & ~bit;
    mapping.writers = may && may_write ? mapping.writers | bit : mapping.writers & ~bit;
    memory_of(machine).let_access(at, mapping.end - at, mapping.readers);
    machine.device().only_read(at, mapping.end, mapping.readers != 0 && mapping.writers == 0);
    machine.note_mapped(at, mapping.end - at, mapping.memory->device);
    at = mapping.end;
  }
}

std::pair<bool, bool> VirtualMemory::access(const void* address, int device) const {
  const auto found = mapping_at(number_of_address(address));
  if (found == mappings_.end()) throw Failure(kInvalidValue, "nothing is mapped there");
  const std::uint64_t bit = std::uint64_t{1} << device;
  return {(found->second.readers & bit) != 0, (found->second.writers & bit) != 0};
}

}  // namespace convladder::stand_in
