#include "simulator/memory/device_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "devices/cpu/cpu_facts.hpp"

namespace convladder::simulated {
namespace {

constexpr std::uint64_t kAlignment = 256;  // as cudaMalloc guarantees
constexpr std::uint64_t kPage = 4096;      // each allocation has its own pages, which can be given back
constexpr std::uint64_t kRedZone = std::uint64_t{1} << 20;  // between allocations: wrong strides do not reach the next

constexpr std::uint64_t kLeastWindow = std::uint64_t{64} << 20;

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

bool is_visible(std::uint64_t address) {
  return address >= kVisibleWindow && address < kGlobalWindow + kGlobalWindowBytes;
}

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t capacity) : capacity_(capacity) {
  // The host needs addresses as well: for copies, threads, libraries.
  if (const auto left = address_space_left()) window_bytes_ = std::min(window_bytes_, *left / 2 / kPage * kPage);
  // Addresses are reserved once; pages are provided when they are touched.
  void* reserved = MAP_FAILED;
  for (; window_bytes_ >= kLeastWindow; window_bytes_ = window_bytes_ / 2 / kPage * kPage) {
    reserved = mmap(nullptr, window_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved != MAP_FAILED) break;
  }
  if (reserved == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(reserved);
  capacity_ = std::min(capacity_, window_bytes_);
}

DeviceMemory::~DeviceMemory() {
  munmap(base_, window_bytes_);
  for (const auto& [begin, allocation] : allocations_) {
    if (is_visible(begin) && !allocation.freed) munmap(host(begin), round_up(allocation.end - begin, kPage));
  }
}

/// Beginning of `span` unused bytes, with a red zone before them and room for one after. Throws std::bad_alloc.
std::uint64_t DeviceMemory::place_for(std::uint64_t span) {
  const std::uint64_t needed = kRedZone + span + kRedZone;
  if (needed <= kGlobalWindow + window_bytes_ - next_) return next_ + kRedZone;
  // All addresses have been given out: takes the first wide enough gap between live allocations.
  std::uint64_t gap = kGlobalWindow;
  for (auto live = allocations_.begin();; ++live) {
    if (live != allocations_.end() && live->second.freed) continue;
    const std::uint64_t gap_end = live == allocations_.end() ? kGlobalWindow + window_bytes_ : live->first;
    if (gap_end - gap >= needed) {
      allocations_.erase(allocations_.lower_bound(gap), live);  // freed ones here are forgotten
      return gap + kRedZone;
    }
    if (live == allocations_.end()) throw std::bad_alloc();
    gap = round_up(std::max(live->second.end, live->first + 1), kPage);
  }
}

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes, std::string_view label) {
  const std::uint64_t span = round_up(bytes, kPage);
  if (bytes > capacity_ - used_) throw std::bad_alloc();
  static_assert(kRedZone % kAlignment == 0 && kPage % kAlignment == 0);
  const std::uint64_t begin = place_for(span);
  if (span > 0 && mprotect(host(begin), span, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  madvise(host(begin), span, MADV_HUGEPAGE);
  next_ = std::max(next_, begin + span);
  used_ += bytes;
  allocations_[begin] = {begin, begin + bytes, std::string(label), false};
  return begin;
}

std::uint64_t DeviceMemory::allocate_visible(std::uint64_t bytes, std::string_view label) {
  const std::uint64_t span = round_up(std::max<std::uint64_t>(bytes, 1), kPage);
  if (bytes > capacity_ - used_) throw std::bad_alloc();
  const std::uint64_t begin = next_visible_ + kRedZone;
  if (span > kGlobalWindow + kGlobalWindowBytes - begin) throw std::bad_alloc();
  // The addresses are the same in every run, so that the same sectors are counted.
  void* const wanted = host(begin);
  void* const mapped = mmap(wanted, span, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  if (mapped != wanted) {  // kernels before 4.17 treat the address as a hint
    munmap(mapped, span);
    throw std::bad_alloc();
  }
  next_visible_ = begin + span;
  used_ += bytes;
  allocations_[begin] = {begin, begin + bytes, std::string(label), false};
  return begin;
}

void DeviceMemory::adopt(void* address, std::uint64_t bytes, std::string_view label) {
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  const Allocation* const before = nearest(begin);
  const Allocation* const after = next(begin);
  if (bytes == 0 || begin + bytes < begin || (before != nullptr && !before->freed && before->end > begin) ||
      (after != nullptr && !after->freed && after->begin < begin + bytes)) {
    throw std::invalid_argument("memory that is the device's already");
  }
  allocations_[begin] = {begin, begin + bytes, std::string(label), false};
  used_ += bytes;
}

void DeviceMemory::free(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || found->second.freed) {
    throw std::invalid_argument("freed memory that is not allocated");
  }
  Allocation& allocation = found->second;
  allocation.freed = true;
  used_ -= allocation.end - allocation.begin;
  const std::uint64_t span = round_up(allocation.end - allocation.begin, kPage);
  if (is_visible(address)) munmap(host(address), std::max(span, kPage));
  if (span == 0 || address - kGlobalWindow >= kDeviceWindowBytes) return;
  // Reserved anew, it becomes one mapping with its surroundings: a process may have 65530 mappings.
  mmap(host(address), span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
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
