// Memory pools: what they say they hold. The memory itself is allocated and freed at once, so that the checkers see
// every use of what was freed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace convladder::stand_in {

struct MemoryPool {
  std::array<int, 3> may_reuse = {1, 1, 1};  ///< as cudaMemPoolReuse… number them, from 1
  std::uint64_t release_threshold = 0;
  std::uint64_t most_bytes = 0;  ///< 0: as much as there is
  std::uint64_t used = 0;
  std::uint64_t most_used = 0;
  std::uint64_t reserved = 0;  ///< what is used, and what was and is kept; a GPU rounds it up
  std::uint64_t most_reserved = 0;
  bool is_destroyed = false;  ///< it ends when its memory does
};

class MemoryPools {
 public:
  MemoryPools();
  MemoryPool& of_device() { return *pools_.front(); }  ///< which is there from the begin on
  MemoryPool& current() { return *current_; }
  void use(MemoryPool& pool) { current_ = &pool; }
  MemoryPool& add(std::uint64_t most_bytes);
  /// Throws Failure(kInvalidValue) for what is none, and for one that was destroyed.
  MemoryPool& at(const void* handle) const;
  /// If it is the current one, the device's own is from now on. Throws Failure(kInvalidValue) for that of the device.
  void remove(MemoryPool& pool);

  /// Throws Failure(kOutOfMemory) if the pool may not have so much.
  static void require_room(const MemoryPool& pool, std::uint64_t bytes);
  void took(MemoryPool& pool, const void* address, std::uint64_t bytes);
  /// Of memory that is freed, of a pool or not.
  void returned(const void* address);
  /// Gives back what is not used, down to so many bytes.
  static void trim(MemoryPool& pool, std::uint64_t kept);

 private:
  struct Taken {
    MemoryPool* pool = nullptr;
    std::uint64_t bytes = 0;
  };
  void drop_ended();

  std::vector<std::unique_ptr<MemoryPool>> pools_;
  MemoryPool* current_ = nullptr;
  std::map<const void*, Taken> taken_;
};

}  // namespace convladder::stand_in
