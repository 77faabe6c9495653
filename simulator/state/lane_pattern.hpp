// The relative addresses of a request's lanes, and the costs that follow from them wherever in memory the request goes.
// An operation nearly always reaches memory in the same pattern as before, whose cost is found only once.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>

#include "simulator/memory/warp_access.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/state/lane_rows.hpp"
#include "simulator/state/operation.hpp"

namespace convladder::simulated {

/// The counters of an instruction; see block_context.hpp.
struct InstructionCounters;

/// The properties that distinguish two patterns.
struct PatternKey {
  alignas(64) LaneOffsets apart{};  ///< bytes from the first lane; 0 for lanes that take no part
  LaneMask mask = 0;                ///< lanes that take part; none: no request has this pattern
  std::uint32_t low_bits = 0;       ///< of the first lane's address: see `low_bits_of`
  int bytes = 0;                    ///< per lane
  ptx::Space space = ptx::Space::global;
  AccessKind kind = AccessKind::load;  ///< for shared memory, where loads may take fewer passes; else `load`

  int first_lane() const { return std::countr_zero(mask) % kLanes; }
};

struct LanePattern : PatternKey {
  /// The arrangement of the lanes' data in memory. Only full warps are `same` or a `row`.
  enum class Shape : std::uint8_t {
    same,      ///< all lanes at the same place
    row,       ///< each lane after the one before
    pieces,    ///< a few rows, and lanes that take no part
    scattered  ///< anywhere
  };
  /// Lanes that form a row: `begin` is where lane 0 would be if it were one of them, relative to the first lane's
  /// place.
  struct Piece {
    LaneMask lanes = 0;
    std::int32_t begin = 0;
  };
  static constexpr int kMostPieces = 4;
  struct Sectors {
    std::int64_t first = 0;  ///< relative to the sector of the first lane
    std::uint64_t mask = 0;  ///< as in SectorSet; 0: not known yet
  };

  Shape shape = Shape::scattered;
  std::uint64_t below = 0;                  ///< bytes from the lowest address to the first lane's
  std::uint64_t above = 0;                  ///< bytes from there to the highest
  std::array<Piece, kMostPieces> pieces{};  ///< for that shape; unused ones at the end are empty
  Wavefronts wavefronts{};                  ///< of shared memory; `needed` also of constants
  std::array<Sectors, 8> sectors{};         ///< by the first lane's place in its sector, in words
};

/// The pattern in which an instruction last reached memory, and how often it has since.
struct KnownPattern {
  LanePattern* pattern;
  std::uint64_t uses = 0;
  int fruitless = 0;  ///< consecutive new patterns that did not recur
};

/// The bits of an address on which costs depend: an access is aligned to its size, banks are words.
inline std::uint32_t low_bits_of(std::uint64_t address, int bytes) {
  return static_cast<std::uint32_t>(address) & static_cast<std::uint32_t>(std::max(bytes, 4) - 1);
}

/// Whether addresses have this pattern. Those of lanes that take no part do not matter.
template <typename Address>
inline bool lies_so(const LanePattern& pattern, const Address* addresses) {
  return (lanes_elsewhere(addresses, addresses[pattern.first_lane()], pattern.apart) & pattern.mask) == 0;
}

/// The sectors of a request in global memory whose first lane is at `first`.
void find_sectors(LanePattern& pattern, std::uint64_t first);

/// All patterns that the blocks of a host thread have met.
class LanePatterns {
 public:
  /// The pattern of an instruction of which nothing is known.
  KnownPattern nothing() { return {&none_}; }

  /// For a request that is not in the known pattern of its instruction: whether it has another pattern that was met
  /// before, which becomes the known one. `addresses` are those of all lanes, as set by `fill_inactive`. The cost of
  /// the last pattern is added to `counters`.
  bool recall(KnownPattern& known, InstructionCounters& counters, ptx::Space space, const Addresses& addresses,
              LaneMask mask, int bytes, AccessKind kind);

  /// Makes the pattern of such a request, which was new and has been checked and counted, the known one.
  void learn(KnownPattern& known, ptx::Space space, const Addresses& addresses, LaneMask mask, int bytes,
             AccessKind kind);

 private:
  LanePattern* find(const PatternKey& wanted, std::uint32_t hash);

  LanePattern none_;
  std::unordered_multimap<std::uint32_t, LanePattern> patterns_;  // by their hash
};

/// Adds the costs of all uses of the known pattern, except for sectors.
void add_uses(const KnownPattern& known, InstructionCounters& counters);

}  // namespace convladder::simulated
