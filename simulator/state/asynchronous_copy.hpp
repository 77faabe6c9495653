// Copies from global to shared memory that take effect later (cp.async), and the state of pending ones.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulator/memory/warp_access.hpp"
#include "simulator/state/operation.hpp"

namespace convladder::simulated {

/// The copies that the threads of a warp have begun and not waited for. Groups belong to threads: lanes that part may
/// have committed different numbers of them.
class PendingCopies {
 public:
  static constexpr int kMostBytes = 16;  // of a thread's copy

  /// The copies of one instruction.
  struct Copy {
    const Operation* operation = nullptr;
    std::uint64_t number = 0;  ///< number among the warp's copies
    LaneMask mask = 0;         ///< lanes whose copy has not landed
    Addresses destinations;    ///< offsets in shared memory
    int bytes = 0;             ///< per lane
    std::array<std::array<std::byte, kMostBytes>, kLanes> data;
    std::array<std::uint32_t, kLanes> group;  ///< the number of the thread's group that the copy belongs to
  };

  void clear();
  /// Begins a copy of the lanes, with zero data; the result is valid until the next one begins.
  Copy& begin(LaneMask lanes);
  /// The number of copies that the warp has begun.
  std::uint64_t begun() const { return begun_; }
  /// Makes a group of the lanes' copies since their last commit.
  void commit(LaneMask lanes);
  /// Removes, in the order of the instructions, the copies that have landed when the lanes have waited for all but
  /// their latest `groups_left` groups; calls land(copy, lanes) for each.
  template <typename Land>
  void wait(LaneMask lanes, std::uint32_t groups_left, const Land& land) {
    take_out(lanes, land,
             [&](const Copy& copy, int lane) { return std::uint64_t{copy.group[lane]} + groups_left < groups_[lane]; });
  }
  /// Removes the first `begun` copies of the warp in the same order; calls land(copy, lanes) for each.
  template <typename Land>
  void wait_for_begun(LaneMask lanes, std::uint64_t begun, const Land& land) {
    take_out(lanes, land, [&](const Copy& copy, int /*lane*/) { return copy.number < begun; });
  }

 private:
  template <typename Land, typename Done>
  void take_out(LaneMask lanes, const Land& land, const Done& done) {
    for (Copy& copy : copies_) {
      LaneMask landing = 0;
      for (LaneMask left = copy.mask & lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        landing |= LaneMask{done(copy, lane)} << lane;
      }
      copy.mask &= ~landing;
      if (landing != 0) land(copy, landing);
    }
    std::erase_if(copies_, [](const Copy& copy) { return copy.mask == 0; });
  }

  std::uint64_t begun_ = 0;
  std::vector<Copy> copies_;
  std::array<std::uint32_t, kLanes> groups_{};  // committed groups, by lane
};

/// Lands the first `begun` copies of the lanes of a warp.
void land_copies(WarpState warp, LaneMask lanes, std::uint64_t begun);

}  // namespace convladder::simulated
