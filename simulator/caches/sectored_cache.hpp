// A set-associative cache of 128-byte lines with four 32-byte sectors each, which are filled one by one; the least
// recently used line is evicted. Tags only: data is always that of the simulated memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace convladder::simulated {

/// The result of a look-up, a bit for each of the line's four sectors.
struct SectorLookup {
  std::uint8_t hits = 0;
  std::uint8_t evicted_dirty = 0;  ///< dirty sectors of the evicted line
};

class SectoredCache {
 public:
  /// 16 ways: NVIDIA does not document the associativity of its caches.
  static constexpr int kWays = 16;
  static constexpr std::uint64_t kLineBytes = 128;

  /// A cache of as many whole sets as fit into `bytes`, at least one.
  explicit SectoredCache(std::uint64_t bytes) : size_(sets_of(bytes)), room_(size_), zeros_(zeros(room_)) {
    sets_ = aligned(zeros_.get());
  }

  /// Empties the cache and sets its size, without touching sets that no launch has used.
  void empty(std::uint64_t bytes) {
    size_ = sets_of(bytes);
    dirty_ = 0;
    ++round_;
    if (size_ <= room_) return;
    zeros_ = zeros(size_);
    room_ = size_;
    sets_ = aligned(zeros_.get());
  }

  /// Looks up `sectors` of a line and brings in the missing ones, dirty or not.
  SectorLookup access(std::uint32_t line, std::uint8_t sectors, bool dirty) {
    Set& set = set_of(line);
    int way = find(set, line);
    SectorLookup found;
    if (way >= 0) {
      found.hits = of_way(set.valid, way) & sectors;
      use(set, way);
    } else {
      way = use_oldest(set);
      found.evicted_dirty = of_way(set.dirty, way);
      dirty_ -= static_cast<std::uint64_t>(std::popcount(found.evicted_dirty));
      set.tag[way] = line;
      set.valid &= ~at_way(kAllSectors, way);
      set.dirty &= ~at_way(kAllSectors, way);
    }
    set.valid |= at_way(sectors, way);
    if (dirty) {
      dirty_ += static_cast<std::uint64_t>(std::popcount(static_cast<std::uint8_t>(sectors & ~of_way(set.dirty, way))));
      set.dirty |= at_way(sectors, way);
    }
    return found;
  }

  /// The sectors of the line that are there; changes nothing but the order of use.
  std::uint8_t touch(std::uint32_t line, std::uint8_t sectors) {
    Set& set = set_of(line);
    const int way = find(set, line);
    if (way < 0) return 0;
    use(set, way);
    return of_way(set.valid, way) & sectors;
  }

  /// Prefetches the set of a line that is looked up soon.
  void prefetch(std::uint32_t line) const {
    const auto* const set = reinterpret_cast<const char*>(&sets_[index(line)]);
    __builtin_prefetch(set, 1);
    __builtin_prefetch(set + sizeof(Set) - 1, 1);
  }

  /// The number of dirty sectors in the cache.
  std::uint64_t dirty() const { return dirty_; }

  std::uint64_t bytes() const { return size_ * kWays * kLineBytes; }

 private:
  /// Four bits for each way, those of way 0 lowest.
  using Nibbles = std::uint64_t;
  static constexpr std::uint8_t kAllSectors = 0xf;

  /// Small enough for two lines of the host's cache, since most of a look-up's cost is waiting for them. All zero at
  /// first, so that a launch that uses few sets touches little of the host's memory.
  struct Set {
    std::uint32_t tag[kWays];  // 0 where nothing is valid: line 0 lies before all allocations
    Nibbles valid;
    Nibbles dirty;
    Nibbles order;        // the ways from the one used last (lowest) on, stored as the difference from kFirstOrder
    std::uint64_t round;  // the round of `empty` since which the content is valid; in later rounds the set is empty
  };
  static constexpr std::uintptr_t kSetAlignment = 32;
  static_assert(sizeof(Set) % kSetAlignment == 0);
  static constexpr Nibbles kFirstOrder = 0x0123456789abcdef;

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Zeros = std::unique_ptr<void, Free>;  // memory that the system gives when it is touched

  static std::uint64_t sets_of(std::uint64_t bytes) { return std::max<std::uint64_t>(1, bytes / (kLineBytes * kWays)); }
  static Zeros zeros(std::uint64_t sets) {
    Zeros memory(std::calloc(sets + 1, sizeof(Set)));
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  static Set* aligned(void* memory) {
    const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(memory) % kSetAlignment;
    return reinterpret_cast<Set*>(static_cast<std::byte*>(memory) + (beyond == 0 ? 0 : kSetAlignment - beyond));
  }

  Set& set_of(std::uint32_t line) {
    Set& set = sets_[index(line)];
    if (set.round != round_) [[unlikely]] {
      set = Set{};
      set.round = round_;
    }
    return set;
  }

  static std::uint8_t of_way(Nibbles all, int way) { return static_cast<std::uint8_t>(all >> (4 * way) & kAllSectors); }
  static Nibbles at_way(std::uint8_t sectors, int way) { return Nibbles{sectors} << (4 * way); }

  /// Without a hash (Knuth's multiplicative one), power-of-two strides would fall into few sets. The hash's upper bits
  /// are scaled to the number of sets.
  std::size_t index(std::uint32_t line) const {
    return static_cast<std::size_t>((std::uint64_t{line * 2654435769U} * size_) >> 32);
  }

  /// Compares all ways at once, without a branch; -1 if the line is in none.
  static int find(const Set& set, std::uint32_t line) {
#ifdef __AVX512F__  // GCC adds the bits up one by one
    static_assert(kWays == 16);
    const std::uint32_t same =
        _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(set.tag), _mm512_set1_epi32(static_cast<int>(line)));
#else
    std::uint32_t same = 0;
#pragma GCC unroll 1  // inside of another loop GCC would write it out, way by way
    for (int way = 0; way < kWays; ++way) same |= static_cast<std::uint32_t>(set.tag[way] == line) << way;
#endif
    return same == 0 ? -1 : std::countr_zero(same);
  }

  /// Moves the way to the front of the order; ways that were before it move back by one.
  static void use(Set& set, int way) {
    constexpr Nibbles kOnes = 0x1111111111111111;
    const Nibbles order = set.order ^ kFirstOrder;
    if ((order & kAllSectors) == static_cast<unsigned>(way)) return;  // already first: most are used again at once
    const Nibbles zero_at_way = order ^ (kOnes * static_cast<unsigned>(way));
    const Nibbles zeros =
        (zero_at_way - kOnes) & ~zero_at_way & (kOnes << 3);  // the lowest bit is right, others may not be
    const Nibbles up_to_way = (Nibbles{2} << std::countr_zero(zeros)) - 1;
    set.order = kFirstOrder ^ ((order & ~up_to_way) | (order << 4 & up_to_way) | static_cast<unsigned>(way));
  }

  static int use_oldest(Set& set) {
    const Nibbles order = set.order ^ kFirstOrder;
    const int way = static_cast<int>(order >> 60);
    set.order = kFirstOrder ^ (order << 4 | static_cast<unsigned>(way));
    return way;
  }

  std::uint64_t size_;  // sets
  std::uint64_t room_;  // sets whose memory is allocated
  Zeros zeros_;
  Set* sets_ = nullptr;
  std::uint64_t round_ = 0;
  std::uint64_t dirty_ = 0;
};

}  // namespace convladder::simulated
