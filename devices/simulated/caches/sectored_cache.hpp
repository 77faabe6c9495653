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
    const int way = find(set, line);
    if (way >= 0) {
      const std::uint8_t hits = set.valid[way] & sectors;
      set.valid[way] |= sectors;
      if (dirty) set.dirty[way] |= sectors;
      set.used[way] = ++set.clock;
      return {hits, 0};
    }
    const int oldest = oldest_of(set);
    const std::uint8_t evicted = set.dirty[oldest];
    set.tag[oldest] = line;
    set.valid[oldest] = sectors;
    set.dirty[oldest] = dirty ? sectors : std::uint8_t{0};
    set.used[oldest] = ++set.clock;
    return {0, evicted};
  }

  /// Sectors of the line that are there; nothing changes but the order of use.
  std::uint8_t touch(std::uint32_t line, std::uint8_t sectors) {
    Set& set = sets_[index(line)];
    const int way = find(set, line);
    if (way < 0) return 0;
    set.used[way] = ++set.clock;
    return set.valid[way] & sectors;
  }

  /// For a look-up that comes soon.
  void prefetch(std::uint32_t line) const {
    const auto* const set = reinterpret_cast<const char*>(&sets_[index(line)]);
    __builtin_prefetch(set);
    __builtin_prefetch(set + 64);
    __builtin_prefetch(set + 128);
  }

  /// All dirty sectors, which are clean from now on.
  std::uint64_t clean() {
    std::uint64_t sectors = 0;
    for (Set& set : sets_) {
      for (std::uint8_t& dirty : set.dirty) {
        sectors += static_cast<std::uint64_t>(std::popcount(dirty));
        dirty = 0;
      }
    }
    return sectors;
  }

  std::uint64_t bytes() const { return sets_.size() * kWays * kLineBytes; }

 private:
  struct alignas(64) Set {
    std::uint32_t tag[kWays];   // looked at where a sector is valid
    std::uint32_t used[kWays];  // when: a count of the set's accesses
    std::uint8_t valid[kWays];
    std::uint8_t dirty[kWays];
    std::uint32_t clock;
  };

  /// Power-of-two strides would fall into few sets without a hash (Knuth's multiplicative one), whose upper bits are
  /// then scaled to the number of sets.
  std::size_t index(std::uint32_t line) const {
    return static_cast<std::size_t>((std::uint64_t{line * 2654435769U} * sets_.size()) >> 32);
  }

  /// The first of those used longest ago. Both this and `find` look at all ways at once, without a branch.
  static int oldest_of(const Set& set) {
    std::uint32_t least = set.used[0];
    for (int way = 1; way < kWays; ++way) least = std::min(least, set.used[way]);
    std::uint32_t same = 0;
    for (int way = 0; way < kWays; ++way) same |= static_cast<std::uint32_t>(set.used[way] == least) << way;
    return std::countr_zero(same);
  }

  static int find(const Set& set, std::uint32_t line) {
    std::uint32_t same = 0;
    for (int way = 0; way < kWays; ++way) {
      same |= static_cast<std::uint32_t>(set.tag[way] == line && set.valid[way] != 0) << way;
    }
    return same == 0 ? -1 : std::countr_zero(same);
  }

  std::vector<Set> sets_;
};

}  // namespace convladder::simulated
