#include "simulator/memory/device_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
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
  for (const auto& [begin, file] : shared_) close(file);
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
    for (const auto& [begin, reserved] : reservations_) {  // nothing need be mapped there
      if (begin < gap + needed && gap < reserved.end) gap = reserved.end;
    }
    if (gap_end > gap && gap_end - gap >= needed) {
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
  allocations_[begin] = {begin, begin + bytes, std::string(label), false, std::uint64_t{1} << device_};
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
  if (const auto file = shared_.extract(address); !file.empty()) close(file.mapped());
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

bool DeviceMemory::may_reach(const Allocation& allocation) const {
  if (!kernel_runs_ || (allocation.devices >> device_ & 1U) != 0) return true;
  const auto peers = peers_.find(device_);
  return peers != peers_.end() && (peers->second & allocation.devices) != 0;
}

const Allocation* DeviceMemory::find(std::uint64_t address) const {
  const Allocation* const allocation = nearest(address);
  return allocation != nullptr && !allocation->freed && address < allocation->end && may_reach(*allocation) ? allocation
                                                                                                            : nullptr;
}

void DeviceMemory::let_reach(int device, int peer, bool may) {
  const std::uint64_t bit = std::uint64_t{1} << peer;
  if (may) {
    peers_[device] |= bit;
  } else {
    peers_[device] &= ~bit;
  }
}

// --- addresses and what is behind them apart ------------------------------------------------------------------------

const Reservation* DeviceMemory::reservation(std::uint64_t address) const {
  auto above = reservations_.upper_bound(address);
  if (above == reservations_.begin()) return nullptr;
  --above;
  return address < above->second.end ? &above->second : nullptr;
}

std::uint64_t DeviceMemory::reserve(std::uint64_t bytes, std::uint64_t alignment, std::string_view label) {
  alignment = std::max(alignment, kPage);
  if (bytes > window_bytes_ || alignment > window_bytes_) throw std::bad_alloc();
  const std::uint64_t begin = round_up(place_for(bytes + alignment), alignment);
  next_ = std::max(next_, begin + bytes);
  reservations_[begin] = {begin + bytes, std::string(label)};
  return begin;
}

void DeviceMemory::give_back(std::uint64_t address, std::uint64_t bytes) {
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second.end - address != bytes) {
    throw std::invalid_argument("addresses that were not reserved so");
  }
  for (auto at = allocations_.lower_bound(address); at != allocations_.end() && at->first < found->second.end; ++at) {
    if (!at->second.freed) throw std::invalid_argument("addresses at which something is mapped");
  }
  reservations_.erase(found);
}

void DeviceMemory::map(std::uint64_t address, std::uint64_t bytes, int file, std::uint64_t offset) {
  void* const there = host(address);
  if (mmap(there, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset)) != there) {
    throw std::bad_alloc();
  }
}

void DeviceMemory::cut_out(std::uint64_t begin, std::uint64_t end) {
  auto at = allocations_.lower_bound(begin);
  if (at != allocations_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != allocations_.end() && at->first < end) {
    const Allocation whole = at->second;
    at = allocations_.erase(at);
    if (whole.begin < begin) {
      Allocation lower = whole;
      lower.end = begin;
      allocations_[lower.begin] = lower;
    }
    if (whole.end > end) {
      Allocation upper = whole;
      upper.begin = end;
      allocations_[end] = upper;
    }
  }
}

void DeviceMemory::unmap(std::uint64_t address, std::uint64_t bytes) {
  cut_out(address, address + bytes);
  mmap(host(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void DeviceMemory::let_access(std::uint64_t address, std::uint64_t bytes, std::uint64_t devices) {
  cut_out(address, address + bytes);
  if (devices == 0) return;
  Allocation made{address, address + bytes, reservation(address)->label, false, devices};
  // One allocation with its neighbours: a copy may go across.
  const auto is_same = [&](const Allocation& other) {
    return !other.freed && other.devices == devices && reservation(other.begin) == reservation(address);
  };
  if (const auto above = allocations_.find(made.end); above != allocations_.end() && is_same(above->second)) {
    made.end = above->second.end;
    allocations_.erase(above);
  }
  if (const auto above = allocations_.lower_bound(address); above != allocations_.begin()) {
    if (const auto below = std::prev(above); below->second.end == address && is_same(below->second)) {
      made.begin = below->first;
    }
  }
  allocations_[made.begin] = made;
}

int DeviceMemory::share(std::uint64_t address) {
  const auto known = shared_.find(address);
  if (known != shared_.end()) return known->second;
  const Allocation& allocation = allocations_.at(address);
  const std::uint64_t bytes = allocation.end - allocation.begin;
  const std::uint64_t span = round_up(bytes, kPage);
  const int file = memfd_create("convladder device memory", MFD_CLOEXEC);
  if (file < 0) throw std::bad_alloc();
  if (ftruncate(file, static_cast<off_t>(span)) != 0) {
    close(file);
    throw std::bad_alloc();
  }
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t written = pwrite(file, host(address) + done, bytes - done, static_cast<off_t>(done));
    if (written <= 0) {
      close(file);
      throw std::bad_alloc();
    }
    done += static_cast<std::uint64_t>(written);
  }
  try {
    map(address, span, file, 0);
  } catch (const std::bad_alloc&) {
    close(file);
    throw;
  }
  shared_[address] = file;
  return file;
}

std::uint64_t DeviceMemory::attach(int file, std::uint64_t bytes, std::string_view label) {
  const std::uint64_t span = round_up(bytes, kPage);
  const std::uint64_t begin = place_for(span);
  map(begin, span, file, 0);
  next_ = std::max(next_, begin + span);
  used_ += bytes;
  allocations_[begin] = {begin, begin + bytes, std::string(label), false, std::uint64_t{1} << device_};
  return begin;
}

}  // namespace convladder::simulated
