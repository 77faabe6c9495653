// Memory pools: what they report. The memory itself is allocated and freed at once, so that the checkers see every use
// of freed memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace convladder::stand_in {

struct MemoryPool {
  std::array<int, 3> may_reuse = {1, 1, 1};  ///< numbers as in cudaMemPoolReuse…, from 1
  std::uint64_t release_threshold = 0;
  std::uint64_t most_bytes = 0;  ///< 0: no limit
  std::uint64_t used = 0;
  std::uint64_t most_used = 0;
  std::uint64_t reserved = 0;  ///< used, and kept after use; a GPU rounds it up
  std::uint64_t most_reserved = 0;
  int device = 0;
  std::uint64_t also_by = 0;  ///< a bit for each other device that may reach its memory
  bool is_destroyed = false;  ///< it ends when its memory does
};

class MemoryPools {
 public:
  MemoryPool& of_device(int device);  ///< the device's own, which always exists
  MemoryPool& current(int device);
  void use(int device, MemoryPool& pool) { current_[device] = &pool; }
  MemoryPool& add(int device, std::uint64_t most_bytes);
  /// Where memory of the pool is that has not been freed.
  std::vector<std::uint64_t> memory_of(const MemoryPool& pool) const;
  /// Throws Failure(kInvalidValue) for a wrong handle, and for a destroyed pool.
  MemoryPool& at(const void* handle) const;
  /// Removes a pool; if it is the current one, the device's own becomes current. Throws Failure(kInvalidValue) for that
  /// one.
  void remove(MemoryPool& pool);

  /// Throws Failure(kOutOfMemory) if the pool must not grow by so much.
  static void require_room(const MemoryPool& pool, std::uint64_t bytes);
  void took(MemoryPool& pool, const void* address, std::uint64_t bytes);
  bool is_of_pool(const void* address) const { return taken_.contains(address); }
  /// Notes freed memory, of a pool or not.
  void returned(const void* address);
  /// Gives back unused memory, down to `kept` bytes.
  static void trim(MemoryPool& pool, std::uint64_t kept);

 private:
  struct Taken {
    MemoryPool* pool = nullptr;
    std::uint64_t bytes = 0;
  };
  void drop_ended();

  std::vector<std::unique_ptr<MemoryPool>> pools_;
  std::map<int, MemoryPool*> own_;      // by device
  std::map<int, MemoryPool*> current_;  // by device
  std::map<const void*, Taken> taken_;
};

}  // namespace convladder::stand_in
