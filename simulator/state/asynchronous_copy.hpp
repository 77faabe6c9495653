// Copies from global to shared memory that take effect later (cp.async), and what of them is under way.
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

  /// One instruction's copies.
  struct Copy {
    const Operation* operation = nullptr;
    std::uint64_t number = 0;  ///< of the warp's copies
    LaneMask mask = 0;         ///< lanes whose copy has not landed
    Addresses destinations;    ///< offsets in shared memory
    int bytes = 0;             ///< of each lane
    std::array<std::array<std::byte, kMostBytes>, kLanes> data;
    std::array<std::uint32_t, kLanes> group;  ///< number of the thread's group that it belongs to
  };

  void clear();
  /// One of the lanes, whose data is zero; valid until the next begins.
  Copy& begin(LaneMask lanes);
  /// How many the warp has begun.
  std::uint64_t begun() const { return begun_; }
  /// The lanes' copies since their last commit become a group.
  void commit(LaneMask lanes);
  /// Takes out, in the order of the instructions, what has landed when the lanes have all but their latest
  /// `groups_left` groups waited for; calls land(copy, lanes) for each.
  template <typename Land>
  void wait(LaneMask lanes, std::uint32_t groups_left, const Land& land) {
    take_out(lanes, land,
             [&](const Copy& copy, int lane) { return std::uint64_t{copy.group[lane]} + groups_left < groups_[lane]; });
  }
  /// Likewise the first `begun` copies of the warp.
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
  std::array<std::uint32_t, kLanes> groups_{};  // committed, by lane
};

/// Of a warp, the first `begun` copies of the lanes land.
void land_copies(WarpState warp, LaneMask lanes, std::uint64_t begun);

}  // namespace convladder::simulated
