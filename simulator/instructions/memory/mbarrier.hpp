// mbarrier objects: the meaning of their 64 bits, and what is on its way to arrive at them (PTX ISA 9.0, 9.7.13.15).
//
// Hardware's layout is not documented; programs may only pass the objects on. The widths of the fields are those
// that the ISA gives: 20 bits for arrivals, 21 for bytes.
#pragma once

#include <cstdint>

#include "simulator/state/block_context.hpp"

namespace convladder::simulated {

class Mbarrier {
 public:
  static constexpr std::uint32_t kMostArrivals = (1U << 20) - 1;
  static constexpr std::int64_t kMostBytes = (1 << 20) - 1;

  explicit Mbarrier(std::uint64_t bits) : bits_(bits) {}
  /// An mbarrier that expects `arrivals` in every phase, 1 to kMostArrivals.
  static Mbarrier expecting(std::uint32_t arrivals);

  std::uint64_t bits() const { return bits_; }
  bool is_valid() const { return field(kValid, 1) != 0; }
  /// 0 and 1 in alternate phases.
  std::uint32_t parity() const { return field(kPhase, 1); }
  std::uint32_t pending() const { return field(kPending, 20); }
  std::uint32_t expected() const { return field(kExpected, 20); }
  /// Expected bytes that have not arrived yet; negative where some arrived before they were expected.
  std::int64_t bytes() const;

  // Each of these returns false where a count would not fit its bits; then nothing has changed.
  bool expect_bytes(std::int64_t more);
  bool arrive(std::uint32_t arrivals);
  bool add_pending(std::uint32_t arrivals);
  /// Reduces the arrivals expected from the next phase on.
  bool drop(std::uint32_t arrivals);

  /// Begins the next phase if this one is complete; returns whether it did.
  bool next_phase_if_complete();

 private:
  static constexpr int kExpected = 0;
  static constexpr int kPending = 20;
  static constexpr int kBytes = 40;
  static constexpr int kPhase = 61;
  static constexpr int kValid = 62;
  std::uint32_t field(int first, int bits) const {
    return static_cast<std::uint32_t>(bits_ >> first) & ((1U << bits) - 1);
  }
  void set(int first, int bits, std::uint32_t value);

  std::uint64_t bits_;
};

/// An mbarrier of a block as a lane's instruction reaches it: faults of its state are reported at that instruction.
struct MbarrierPlace {
  const WarpState& warp;
  const Operation& operation;
  int lane = 0;
  std::uint64_t offset = 0;  ///< in shared memory of `owner`
  std::byte* at = nullptr;
  BlockContext* owner = nullptr;  ///< the lane's block or another of its cluster
};

/// Adds an arrival on its way to an mbarrier of a block, perhaps from another block of its cluster.
void add_arrival(BlockContext& owner, PendingArrival arrival);

/// Notes that `bytes` expected bytes have arrived. A fault if the object is not initialised.
void complete_bytes(const MbarrierPlace& place, std::int64_t bytes);

}  // namespace convladder::simulated
