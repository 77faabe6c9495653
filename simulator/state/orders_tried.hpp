// Other orders of the work of launches: how many are wanted, and what they have come to.
#pragma once

#include <cstdint>
#include <string>

namespace convladder::simulated {

/// The largest number of orders of a launch, and the largest seed.
inline constexpr std::uint64_t kMostSchedules = 1'000'000'000;

/// The orders to try: `count` of them, by seeds from `first_seed` on. Seed 0 is the usual order.
struct SchedulesWanted {
  std::uint64_t count = 0;
  std::uint64_t first_seed = 1;
};

/// The outcome of other orders of launches.
struct OrdersTried {
  std::uint64_t launches = 0;
  std::uint64_t orders = 0;     ///< of all launches, without the usual ones
  std::uint64_t differing = 0;  ///< of these: results that are not those of the usual order
  std::uint64_t failing = 0;    ///< of these: with a fault, or that never end
  std::uint64_t sums_only = 0;  ///< of the differing ones: only floating-point sums by atomics in another order
  std::uint64_t complete = 0;   ///< launches of which every order with one interruption was tried
  double seconds = 0;           ///< the host's time for all of it
  std::string not_tried{};  ///< why there were no other orders of some launch, or not all of them; empty: there were

  bool is_deterministic() const { return differing == 0 && failing == 0; }
  /// Whether nobody asked for other orders, or nothing was launched.
  bool empty() const { return launches == 0 && not_tried.empty(); }
  OrdersTried& operator+=(const OrdersTried& other);

  static void each_field(auto&& field, auto& its) {
    field("launches", its.launches, "orders", its.orders, "differing", its.differing, "sums_only", its.sums_only,
          "failing", its.failing, "complete", its.complete, "seconds", its.seconds, "not_tried", its.not_tried);
  }
};

/// "deterministic over 100 schedules", "41 of 100 schedules give other results", "other orders were not tried: why".
std::string to_text(const OrdersTried& tried);

}  // namespace convladder::simulated
