// Vector clocks of a block: up to which of each warp's accesses something is ordered behind them, and which releases of
// other blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "simulator/state/operation.hpp"

namespace convladder::simulated {

inline constexpr int kMostWarps = 32;
inline constexpr int kWarpsOfGroup = 4;

/// Releases of other blocks that are known somewhere: for each warp of a block the number of its latest one. Shared, as
/// whole blocks and places often know the same.
struct KnownReleases {
  /// If more warps than this are known, everything counts that any block has released.
  static constexpr std::size_t kMost = 256;
  using Pointer = std::shared_ptr<const KnownReleases>;

  /// By block * kMostWarps + warp, in ascending order.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> latest;
  bool all = false;

  static Pointer joined(const Pointer& one, const Pointer& other);
  static Pointer with(const Pointer& known, std::uint64_t warp, std::uint32_t release);
};

/// For each warp, then for each warp's copies, then for the products of each four warps, then for each warp's copies
/// that go to global memory in groups, of which a thread may have seen the sources read and no more: the clock up to
/// which its accesses are ordered before. A warp's barriers say nothing about its copies and products. The clock of
/// products is their group's number, the same for the four warps, whichever of them comes first.
struct WarpClocks {
  static constexpr int kFirstCopy = kMostWarps;
  static constexpr int kFirstGroup = 2 * kMostWarps;
  static constexpr int kFirstLanding = kFirstGroup + kMostWarps / kWarpsOfGroup;
  static constexpr int kCount = kFirstLanding + kMostWarps;

  std::array<std::uint32_t, kCount> to{};
  /// Some lanes of a warp may have released more: the clock up to which they have, by warp.
  std::array<std::uint32_t, kMostWarps> some_to{};
  std::array<LaneMask, kMostWarps> some{};
  bool has_some = false;
  KnownReleases::Pointer others;  ///< none: nothing is known of other blocks

  void join(const WarpClocks& other) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], other.to[i]);
    if (other.others != nullptr) others = KnownReleases::joined(others, other.others);
    if (!other.has_some) return;
    for (std::size_t w = 0; w < kMostWarps; ++w) {
      if (other.some[w] != 0) add_lanes(w, other.some[w], other.some_to[w]);
    }
  }
  /// Two releases of different lanes count as one of both, up to the later clock.
  void add_lanes(std::size_t warp, LaneMask lanes, std::uint32_t clock) {
    if (clock <= to[warp]) return;
    const bool adds = some_to[warp] > to[warp];
    some[warp] = lanes | (adds ? some[warp] : 0);
    some_to[warp] = adds ? std::max(clock, some_to[warp]) : clock;
    has_some = true;
  }
  /// Whether any of these lanes has come to the clock. The index is a warp's, or one of copies or products, which have
  /// no lanes.
  bool has(std::size_t index, LaneMask lanes, std::uint32_t clock) const {
    if (clock <= to[index]) return true;
    return has_some && index < kMostWarps && clock <= some_to[index] && (some[index] & lanes) != 0;
  }
};

}  // namespace convladder::simulated
