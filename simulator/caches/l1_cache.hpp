// The L1 data cache of one multiprocessor, and the log of what it asks of the L2.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulator/caches/sectored_cache.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/memory/warp_access.hpp"

namespace convladder::simulated {

/// A request to the L2: sectors of one line.
struct L2Request {
  std::uint32_t line = 0;
  std::uint8_t sectors = 0;
  bool is_write = false;
};

class L1Cache {
 public:
  static constexpr std::size_t kSlices = 16;                        // slices of the L2
  static constexpr std::size_t kMostLogged = std::size_t{1} << 22;  // requests per slice and wave

  explicit L1Cache(std::uint64_t bytes) : cache_(bytes) {}

  /// Resets the cache to `bytes`, as if it had just been made.
  void begin(std::uint64_t bytes) {
    cache_.empty(bytes);
    for (std::vector<L2Request>& log : logs_) log.clear();
    load_sectors_ = 0;
    load_hits_ = 0;
    texture_hits_ = 0;
    complete_ = true;
  }
  /// Frees the memory of long logs.
  void end() {
    constexpr std::size_t kKept = 1024;
    for (std::vector<L2Request>& log : logs_) {
      if (log.capacity() > kKept) log = {};
    }
  }

  void access(const SectorSet& sectors, AccessKind kind) {
    if (kind == AccessKind::load) {
      load_sectors_ += static_cast<std::uint64_t>(sectors.count());
      load_hits_ += load_texels(sectors);
      return;
    }
    for_each_line(sectors, [this, kind](std::uint32_t line, std::uint8_t of_line) {
      if (kind == AccessKind::store) cache_.touch(line, of_line);
      ask({line, of_line, true});
    });
  }

  /// A load that goes to the L2 at once and leaves nothing here (ld.cg, cp.async.cg).
  void load_past(const SectorSet& sectors) {
    for_each_line(sectors, [this](std::uint32_t line, std::uint8_t of_line) { ask({line, of_line, false}); });
  }

  /// Texture reads are handled like loads but counted separately. Returns how many of the sectors were hits.
  std::uint64_t load_texels(const SectorSet& sectors) {
    std::uint64_t all_hits = 0;
    for_each_line(sectors, [&](std::uint32_t line, std::uint8_t of_line) {
      const std::uint8_t hits = cache_.access(line, of_line, false).hits;
      all_hits += static_cast<std::uint64_t>(std::popcount(hits));
      if (hits != of_line) ask({line, static_cast<std::uint8_t>(of_line & ~hits), false});
    });
    return all_hits;
  }
  void add_texture_hits(std::uint64_t sectors) { texture_hits_ += sectors; }

  std::uint64_t texture_hits() const { return texture_hits_; }
  std::uint64_t load_sectors() const { return load_sectors_; }
  std::uint64_t load_hits() const { return load_hits_; }
  bool complete() const { return complete_; }
  std::vector<L2Request>& log(std::size_t slice) { return logs_[slice]; }

 private:
  /// Calls apply(line, its sectors) for every line of the set.
  template <typename Apply>
  static void for_each_line(const SectorSet& sectors, const Apply& apply) {
    if (sectors.list_size > 0) {
      for (int i = 0; i < sectors.list_size; ++i) apply(line_of(sectors.list[i]), bit_of(sectors.list[i]));
      return;
    }
    // The set's mask begins at its first sector; shifted to begin with a line, each group of four bits is a line.
    const auto shift = static_cast<unsigned>(sectors.first % 4);
    std::uint32_t line = line_of(sectors.first);
    const std::uint64_t low = sectors.mask << shift;
    for (std::uint64_t left = low; left != 0; left >>= 4, ++line) {
      if ((left & 15U) != 0) apply(line, static_cast<std::uint8_t>(left & 15U));
    }
    const std::uint64_t carried = shift == 0 ? 0 : sectors.mask >> (64 - shift);
    if (carried != 0) apply(line_of(sectors.first) + 16, static_cast<std::uint8_t>(carried));
  }

  static std::uint32_t line_of(std::uint64_t sector) {
    static_assert(kGlobalWindowBytes / SectoredCache::kLineBytes <= std::uint64_t{1} << 32, "lines are told apart");
    return static_cast<std::uint32_t>(sector / 4);
  }
  static std::uint8_t bit_of(std::uint64_t sector) { return static_cast<std::uint8_t>(1U << (sector % 4)); }

  void ask(L2Request request) {
    // Slices are chosen by a hash of the line, so that a stride does not end in one slice.
    std::vector<L2Request>& log = logs_[(request.line ^ (request.line >> 4) ^ (request.line >> 9)) % kSlices];
    if (log.size() >= kMostLogged) {
      complete_ = false;
      return;
    }
    log.push_back(request);
  }

  SectoredCache cache_;
  std::array<std::vector<L2Request>, kSlices> logs_;
  std::uint64_t load_sectors_ = 0;
  std::uint64_t load_hits_ = 0;
  std::uint64_t texture_hits_ = 0;
  bool complete_ = true;
};

}  // namespace convladder::simulated
