// How the lanes of a request lie to each other, and what follows from it wherever in memory the request goes. An
// operation nearly always reaches memory in the pattern in which it did before: what that costs is found once.
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

/// What is counted of an instruction; see block_context.hpp.
struct InstructionCounters;

/// What tells two patterns apart.
struct PatternKey {
  alignas(64) LaneOffsets apart{};  ///< bytes from the first lane; 0 of lanes that take no part
  LaneMask mask = 0;                ///< lanes that take part; none: no request has this pattern
  std::uint32_t low_bits = 0;       ///< of the first lane's address: see `low_bits_of`
  int bytes = 0;                    ///< of a lane
  ptx::Space space = ptx::Space::global;
  AccessKind kind = AccessKind::load;  ///< of shared memory, where a load may take fewer passes; elsewhere always this

  int first_lane() const { return std::countr_zero(mask) % kLanes; }
};

struct LanePattern : PatternKey {
  /// How the lanes' data lies in memory. Only full warps are `same` or a `row`.
  enum class Shape : std::uint8_t {
    same,      ///< all lanes at one place
    row,       ///< each lane behind the one before
    pieces,    ///< a few rows, and lanes that take no part
    scattered  ///< anywhere
  };
  /// Lanes that are a row: where lane 0 would lie if it were one of them, from the first lane's place.
  struct Piece {
    LaneMask lanes = 0;
    std::int32_t begin = 0;
  };
  static constexpr int kMostPieces = 4;
  struct Sectors {
    std::int64_t first = 0;  ///< from the sector of the first lane
    std::uint64_t mask = 0;  ///< as in SectorSet; 0: not known yet
  };

  Shape shape = Shape::scattered;
  std::uint64_t below = 0;                  ///< bytes from the lowest address to the first lane's
  std::uint64_t above = 0;                  ///< from there to the highest
  std::array<Piece, kMostPieces> pieces{};  ///< if that is the shape; those behind the last are empty
  Wavefronts wavefronts{};                  ///< of shared memory, and `needed` of constants
  std::array<Sectors, 8> sectors{};         ///< by the first lane's place in its sector, in words
};

/// The pattern in which an instruction reached memory last, and how often it has since.
struct KnownPattern {
  LanePattern* pattern;
  std::uint64_t uses = 0;
  int fruitless = 0;  ///< patterns one after the other that were new and did not come twice
};

/// Bits of an address on which costs depend: an access is aligned to its size, banks are words.
inline std::uint32_t low_bits_of(std::uint64_t address, int bytes) {
  return static_cast<std::uint32_t>(address) & static_cast<std::uint32_t>(std::max(bytes, 4) - 1);
}

/// Whether addresses lie so. Those of lanes that take no part do not matter.
template <typename Address>
inline bool lies_so(const LanePattern& pattern, const Address* addresses) {
  return (lanes_elsewhere(addresses, addresses[pattern.first_lane()], pattern.apart) & pattern.mask) == 0;
}

/// The sectors of a request in global memory whose first lane is at `first`.
void find_sectors(LanePattern& pattern, std::uint64_t first);

/// All patterns that the blocks of a host thread have met.
class LanePatterns {
 public:
  /// Before anything is known of an instruction.
  KnownPattern nothing() { return {&none_}; }

  /// A request that is not in the known pattern of its instruction: whether it is in another that was met before,
  /// which is the known one from now on. `addresses` are those of all lanes, as `fill_inactive` leaves them. What the
  /// last pattern cost goes to `counters`.
  bool recall(KnownPattern& known, InstructionCounters& counters, ptx::Space space, const Addresses& addresses,
              LaneMask mask, int bytes, AccessKind kind);

  /// Such a request, which was not, has been checked and counted: from now on its pattern is known.
  void learn(KnownPattern& known, ptx::Space space, const Addresses& addresses, LaneMask mask, int bytes,
             AccessKind kind);

 private:
  LanePattern* find(const PatternKey& wanted, std::uint32_t hash);

  LanePattern none_;
  std::unordered_multimap<std::uint32_t, LanePattern> patterns_;  // by their hash
};

/// Adds what the uses of the known pattern cost, except for sectors.
void add_uses(const KnownPattern& known, InstructionCounters& counters);

}  // namespace convladder::simulated
