#include "devices/cpu/cpu_device.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "devices/cpu/cpu_facts.hpp"
#include "devices/device_error.hpp"
#include "devices/device_registry.hpp"

namespace convladder {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 62;  // above, rounding up to pages would overflow

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

/// Makes the system provide the memory now: otherwise the first kernel that writes to it would pay for that in its
/// time.
void touch(std::byte* memory, std::size_t bytes, std::size_t page) {
  volatile std::byte* const at = memory;
#pragma omp parallel for schedule(static)
  for (std::size_t offset = 0; offset < bytes; offset += page) at[offset] = std::byte{0};
}

}  // namespace

std::size_t CpuDevice::free_bytes() const { return available_memory_bytes(); }

DeviceBuffer CpuDevice::allocate(std::size_t bytes, std::string_view label) {
  const std::size_t page = page_bytes();
  const std::size_t readable = guarded_page_bytes(bytes);
  void* const whole = bytes > kMostBytes
                          ? MAP_FAILED
                          : mmap(nullptr, readable + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED) {
    throw OutOfDeviceMemory(
        fmt::format("{} needs {} bytes, {} bytes of memory are available", label, bytes, free_bytes()));
  }
  std::byte* const mapping = static_cast<std::byte*>(whole) + page;
  if (mprotect(mapping, readable, PROT_READ | PROT_WRITE) != 0) {
    munmap(whole, readable + 2 * page);
    throw OutOfDeviceMemory(
        fmt::format("{} needs {} bytes, {} bytes of memory are available", label, bytes, free_bytes()));
  }
  // Large tensors are walked end to end: without huge pages the walk is bound by address translation.
  madvise(mapping, readable, MADV_HUGEPAGE);
  touch(mapping, readable, page);

  const GuardedMemory memory = guarded_in(mapping, bytes);
  std::ranges::fill(memory.before(), kGuardByte);
  std::ranges::fill(memory.behind(), kGuardByte);
  allocations_[memory.address] = {memory, std::string(label)};
  return {*this, memory.address, bytes};
}

void CpuDevice::free(void* address, std::size_t /*bytes*/) noexcept {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return;
  if (violation_.empty()) violation_ = violation_around(found->second);
  const std::size_t page = page_bytes();
  const GuardedMemory& memory = found->second.memory;
  munmap(memory.pages - page, memory.page_bytes + 2 * page);
  allocations_.erase(found);
}

std::string CpuDevice::violation_around(const Allocation& allocation) {
  return guards_violation(allocation.memory.before(), allocation.memory.behind(), allocation.label);
}

std::string CpuDevice::memory_violation() {
  for (const auto& [address, allocation] : allocations_) {
    if (violation_.empty()) violation_ = violation_around(allocation);
  }
  return std::exchange(violation_, {});
}

void CpuDevice::copy_to_device(void* destination, const void* source, std::size_t bytes) {
  std::memcpy(destination, source, bytes);
}

void CpuDevice::copy_to_host(void* destination, const void* source, std::size_t bytes) {
  std::memcpy(destination, source, bytes);
}

void CpuDevice::launch(const KernelLaunch& /*launch*/) {
  throw DeviceError("the cpu device runs host code and cannot launch kernels");
}

double CpuDevice::time_ns(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

namespace {

const DeviceRegistration registration{{
    .name = "cpu",
    .family = "cpu",
    .order = 10,
    .unavailable = [] { return std::string(); },
    .open = [] { return std::unique_ptr<Device>(std::make_unique<CpuDevice>()); },
    .facts = cpu_facts,
}};

}  // namespace
}  // namespace convladder
