#include "simulator/stand_in/memory_pools.hpp"

#include <algorithm>

#include "simulator/stand_in/status.hpp"

namespace convladder::stand_in {

MemoryPool& MemoryPools::of_device(int device) {
  MemoryPool*& own = own_[device];
  if (own == nullptr) own = &add(device, 0);
  return *own;
}

MemoryPool& MemoryPools::current(int device) {
  MemoryPool*& current = current_[device];
  if (current == nullptr) current = &of_device(device);
  return *current;
}

std::vector<std::uint64_t> MemoryPools::memory_of(const MemoryPool& pool) const {
  std::vector<std::uint64_t> addresses;
  for (const auto& [address, taken] : taken_) {
    if (taken.pool == &pool) addresses.push_back(reinterpret_cast<std::uint64_t>(address));
  }
  return addresses;
}

MemoryPool& MemoryPools::add(int device, std::uint64_t most_bytes) {
  MemoryPool& pool = *pools_.emplace_back(std::make_unique<MemoryPool>());
  pool.device = device;
  pool.most_bytes = most_bytes;
  return pool;
}

MemoryPool& MemoryPools::at(const void* handle) const {
  const auto found = std::ranges::find(pools_, handle, &std::unique_ptr<MemoryPool>::get);
  if (found == pools_.end() || (*found)->is_destroyed) throw Failure(kInvalidValue);
  return **found;
}

void MemoryPools::remove(MemoryPool& pool) {
  if (&pool == &of_device(pool.device)) throw Failure(kInvalidValue);
  if (&pool == &current(pool.device)) current_[pool.device] = &of_device(pool.device);
  pool.is_destroyed = true;
  drop_ended();
}

void MemoryPools::drop_ended() {
  std::erase_if(pools_, [](const auto& pool) { return pool->is_destroyed && pool->used == 0; });
}

void MemoryPools::require_room(const MemoryPool& pool, std::uint64_t bytes) {
  if (pool.most_bytes > 0 && (bytes > pool.most_bytes || pool.used > pool.most_bytes - bytes)) {
    throw Failure(kOutOfMemory, "the pool's largest size");
  }
}

void MemoryPools::took(MemoryPool& pool, const void* address, std::uint64_t bytes) {
  taken_[address] = {&pool, bytes};
  pool.used += bytes;
  pool.most_used = std::max(pool.most_used, pool.used);
  pool.reserved = std::max(pool.reserved, pool.used);
  pool.most_reserved = std::max(pool.most_reserved, pool.reserved);
}

void MemoryPools::returned(const void* address) {
  const auto found = taken_.find(address);
  if (found == taken_.end()) return;
  MemoryPool& pool = *found->second.pool;
  pool.used -= found->second.bytes;
  taken_.erase(found);
  trim(pool, pool.release_threshold);
  drop_ended();
}

void MemoryPools::trim(MemoryPool& pool, std::uint64_t kept) {
  pool.reserved = std::max(pool.used, std::min(pool.reserved, kept));
}

}  // namespace convladder::stand_in
