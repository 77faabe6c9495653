// A set-associative cache of 128-byte lines, each of four 32-byte sectors that are filled one by one; the line used
// longest ago gives way. The tags only: data is always that of the simulated memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace convladder::simulated {

/// What a look-up found, a bit for each of the line's four sectors.
struct SectorLookup {
  std::uint8_t hits = 0;
  std::uint8_t evicted_dirty = 0;  ///< dirty sectors of the line that gave way
};

class SectoredCache {
 public:
  /// 16 ways: NVIDIA does not document the associativity of its caches.
  static constexpr int kWays = 16;
  static constexpr std::uint64_t kLineBytes = 128;

  /// As many whole sets as fit into `bytes`, at least one.
  explicit SectoredCache(std::uint64_t bytes) : sets_(std::max<std::uint64_t>(1, bytes / (kLineBytes * kWays))) {}

  /// Looks up `sectors` of a line and brings in those that are missing, dirty or not.
  SectorLookup access(std::uint32_t line, std::uint8_t sectors, bool dirty) {
    Set& set = sets_[index(line)];
    int way = find(set, line);
    SectorLookup found;
    if (way >= 0) {
      found.hits = of_way(set.valid, way) & sectors;
      use(set, way);
    } else {
      way = use_oldest(set);
      found.evicted_dirty = of_way(set.dirty, way);
      set.tag[way] = line;
      set.valid &= ~at_way(kAllSectors, way);
      set.dirty &= ~at_way(kAllSectors, way);
    }
    set.valid |= at_way(sectors, way);
    if (dirty) set.dirty |= at_way(sectors, way);
    return found;
  }

  /// Sectors of the line that are there; nothing changes but the order of use.
  std::uint8_t touch(std::uint32_t line, std::uint8_t sectors) {
    Set& set = sets_[index(line)];
    const int way = find(set, line);
    if (way < 0) return 0;
    use(set, way);
    return of_way(set.valid, way) & sectors;
  }

  /// For a look-up that comes soon.
  void prefetch(std::uint32_t line) const {
    const auto* const set = reinterpret_cast<const char*>(&sets_[index(line)]);
    __builtin_prefetch(set, 1);
    __builtin_prefetch(set + sizeof(Set) - 1, 1);
  }

  /// All dirty sectors, which are clean from now on.
  std::uint64_t clean() {
    std::uint64_t sectors = 0;
    for (Set& set : sets_) {
      sectors += static_cast<std::uint64_t>(std::popcount(set.dirty));
      set.dirty = 0;
    }
    return sectors;
  }

  std::uint64_t bytes() const { return sets_.size() * kWays * kLineBytes; }

 private:
  /// Four bits for each way, those of way 0 lowest.
  using Nibbles = std::uint64_t;
  static constexpr std::uint8_t kAllSectors = 0xf;

  /// Small, so that it takes two lines of the host's cache: most of what a look-up costs is to wait for them.
  struct alignas(32) Set {
    std::uint32_t tag[kWays] = {};  // 0 where nothing is valid: line 0 lies before all allocations
    Nibbles valid = 0;
    Nibbles dirty = 0;
    Nibbles order = 0x0123456789abcdef;  // the ways, the one used last lowest
  };

  static std::uint8_t of_way(Nibbles all, int way) { return static_cast<std::uint8_t>(all >> (4 * way) & kAllSectors); }
  static Nibbles at_way(std::uint8_t sectors, int way) { return Nibbles{sectors} << (4 * way); }

  /// Power-of-two strides would fall into few sets without a hash (Knuth's multiplicative one), whose upper bits are
  /// then scaled to the number of sets.
  std::size_t index(std::uint32_t line) const {
    return static_cast<std::size_t>((std::uint64_t{line * 2654435769U} * sets_.size()) >> 32);
  }

  /// Looks at all ways at once, without a branch; -1 if the line is in none.
  static int find(const Set& set, std::uint32_t line) {
    std::uint32_t same = 0;
#pragma GCC unroll 1  // inside of another loop GCC would write it out, way by way
    for (int way = 0; way < kWays; ++way) same |= static_cast<std::uint32_t>(set.tag[way] == line) << way;
    return same == 0 ? -1 : std::countr_zero(same);
  }

  /// Moves the way to the front of the order; those that were before it move back by one.
  static void use(Set& set, int way) {
    constexpr Nibbles kOnes = 0x1111111111111111;
    const Nibbles zero_at_way = set.order ^ (kOnes * static_cast<unsigned>(way));
    const Nibbles zeros =
        (zero_at_way - kOnes) & ~zero_at_way & (kOnes << 3);  // the lowest bit is right, others may not be
    const Nibbles up_to_way = (Nibbles{2} << std::countr_zero(zeros)) - 1;
    set.order = (set.order & ~up_to_way) | (set.order << 4 & up_to_way) | static_cast<unsigned>(way);
  }

  static int use_oldest(Set& set) {
    const int way = static_cast<int>(set.order >> 60);
    set.order = set.order << 4 | static_cast<unsigned>(way);
    return way;
  }

  std::vector<Set> sets_;
};

}  // namespace convladder::simulated
