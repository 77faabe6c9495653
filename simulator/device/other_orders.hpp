// Runs a launch again in other orders of its work (state/schedule.hpp) and compares what it leaves in memory, bit for
// bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/checkers/order_recorder.hpp"
#include "simulator/execution/executor.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/finding.hpp"

namespace convladder::simulated {

/// The orders to try: `count` of them, by seeds from `first_seed` on. Seed 0 is the usual order.
struct SchedulesWanted {
  std::uint64_t count = 0;
  std::uint64_t first_seed = 1;
};

/// The outcome of other orders of the launches of a kernel.
struct OrdersTried {
  std::uint64_t launches = 0;
  std::uint64_t orders = 0;     ///< of all launches, without the usual ones
  std::uint64_t differing = 0;  ///< of these: results that are not those of the usual order
  std::uint64_t failing = 0;    ///< of these: with a fault, or that never end
  std::uint64_t sums_only = 0;  ///< of the differing ones: only floating-point sums by atomics in another order
  std::uint64_t complete = 0;   ///< launches of which every order with one interruption was tried
  double seconds = 0;           ///< the host's time for all of it

  bool is_deterministic() const { return differing == 0 && failing == 0; }
  static void each_field(auto&& field, auto& its) {
    field("launches", its.launches, "orders", its.orders, "differing", its.differing, "sums_only", its.sums_only,
          "failing", its.failing, "complete", its.complete, "seconds", its.seconds);
  }
  OrdersTried& operator+=(const OrdersTried& other);
};

/// "deterministic over 100 schedules", "41 of 100 schedules give other results, 26 of them by atomic sums only".
std::string to_text(const OrdersTried& tried);

struct OrdersOutcome {
  OrdersTried tried;
  std::vector<Finding> findings;
  std::string not_tried;  ///< the reason why there were no other orders, or not all of them; empty: there is none
};

class OtherOrders {
 public:
  /// To be made before the launch runs in its usual order. `written`: the beginnings of the allocations that it may
  /// write.
  OtherOrders(const Program& program, DeviceMemory& memory, LaunchConfiguration configuration,
              const std::vector<std::uint64_t>& written);

  /// To be called when the launch has run, with its result. Memory is afterwards as the launch has left it.
  OrdersOutcome try_them(const SchedulesWanted& wanted, const LaunchResult& usual);

 private:
  struct Piece {
    std::uint64_t begin = 0;
    std::string label;  ///< of the allocation
    std::vector<std::byte> before{};
    std::vector<std::byte> after{};    ///< of the launch in its usual order
    std::vector<std::byte> of_bits{};  ///< the same with sums of bits: see Schedule
  };
  /// A word of 4 bytes that is not as the usual order leaves it.
  struct DifferentWord {
    const Piece* piece = nullptr;
    std::uint64_t address = 0;
    std::uint32_t bits = 0;
  };
  struct Difference {
    std::vector<DifferentWord> words;                ///< the first ones
    std::map<const Piece*, std::uint64_t> of_piece;  ///< bytes in all
  };

  void restore(std::vector<std::byte> Piece::*content);
  LaunchResult run(Schedule& schedule, AccessObserver* observer = nullptr);
  void keep(std::vector<std::byte> Piece::*content);
  /// How memory differs from a content that was kept.
  std::optional<Difference> difference_to(std::vector<std::byte> Piece::*content) const;
  std::optional<Difference> difference_of_bits(std::uint64_t seed);
  Finding explain(std::uint64_t seed, const Difference& difference, const std::optional<Difference>& of_bits);
  Finding finding_at(const LastWrite& write) const;
  std::string place_text(const LastWrite& write) const;

  const Program& program_;
  DeviceMemory& memory_;
  LaunchConfiguration configuration_;
  ScheduledWork work_;
  std::vector<Piece> pieces_;
  std::uint64_t bytes_ = 0;
  bool has_bits_ = false;  // whether `of_bits` of the pieces is known
  std::string not_tried_;
};

}  // namespace convladder::simulated
