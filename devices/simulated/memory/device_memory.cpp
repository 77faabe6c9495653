#include "devices/simulated/memory/device_memory.hpp"

#include <sys/mman.h>

#include <new>
#include <stdexcept>

namespace convladder::simulated {
namespace {

constexpr std::uint64_t kAlignment = 256;  // as cudaMalloc promises
constexpr std::uint64_t kPage = 4096;      // each allocation has its own pages, so that it can be given back
constexpr std::uint64_t kRedZone = std::uint64_t{1} << 20;  // between allocations: wrong strides do not reach the next

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t capacity) : capacity_(capacity) {
  // Addresses are reserved once; pages come when they are touched.
  void* const reserved =
      mmap(nullptr, kGlobalWindowBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(reserved);
}

DeviceMemory::~DeviceMemory() { munmap(base_, kGlobalWindowBytes); }

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes, std::string_view label) {
  const std::uint64_t span = round_up(bytes, kPage);
  if (bytes > capacity_ - used_ || next_ - kGlobalWindow + span + kRedZone > kGlobalWindowBytes) throw std::bad_alloc();
  static_assert(kRedZone % kAlignment == 0 && kPage % kAlignment == 0);
  next_ += kRedZone;
  const std::uint64_t begin = next_;
  if (span > 0 && mprotect(host(begin), span, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  madvise(host(begin), span, MADV_HUGEPAGE);
  next_ += span;
  used_ += bytes;
  allocations_[begin] = {begin, begin + bytes, std::string(label), false};
  return begin;
}

void DeviceMemory::free(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.freed) {
    throw std::invalid_argument("freed what is not allocated");
  }
  Allocation& allocation = found->second;
  allocation.freed = true;
  used_ -= allocation.end - allocation.begin;
  const std::uint64_t span = round_up(allocation.end - allocation.begin, kPage);
  if (span == 0) return;
  madvise(host(address), span, MADV_DONTNEED);
  mprotect(host(address), span, PROT_NONE);
}

const Allocation* DeviceMemory::nearest(std::uint64_t address) const {
  auto above = allocations_.upper_bound(address);
  return above == allocations_.begin() ? nullptr : &(--above)->second;
}

const Allocation* DeviceMemory::next(std::uint64_t address) const {
  const auto above = allocations_.upper_bound(address);
  return above == allocations_.end() ? nullptr : &above->second;
}

const Allocation* DeviceMemory::find(std::uint64_t address) const {
  const Allocation* const allocation = nearest(address);
  return allocation != nullptr && !allocation->freed && address < allocation->end ? allocation : nullptr;
}

}  // namespace convladder::simulated
