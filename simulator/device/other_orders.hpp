// Runs a launch again in other orders of its work (state/schedule.hpp) and compares what it leaves in memory, bit for
// bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/checkers/order_recorder.hpp"
#include "simulator/device/launch_memory.hpp"
#include "simulator/execution/executor.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/finding.hpp"
#include "simulator/state/orders_tried.hpp"

namespace convladder::simulated {

struct OrdersOutcome {
  OrdersTried tried;
  std::vector<Finding> findings;
};

class OtherOrders {
 public:
  /// `kept` has the memory before the launch, and must outlive this.
  OtherOrders(const Program& program, DeviceMemory& memory, LaunchConfiguration configuration, LaunchMemory& kept);

  /// To be called when the launch has run, with its result. Memory is afterwards as the launch has left it.
  OrdersOutcome try_them(const SchedulesWanted& wanted, const LaunchResult& usual);

  /// To be called as try_them: the seed of the first order that fails, does not end, or has other results for another
  /// reason than the order of floating-point sums. Memory is afterwards as the launch has left it.
  std::optional<std::uint64_t> first_other(const SchedulesWanted& wanted, const LaunchResult& usual);
  /// To be called after either: runs the launch in the order of this seed. Memory is afterwards as that leaves it.
  void leave_as(std::uint64_t seed);

 private:
  using Difference = LaunchMemory::Difference;

  LaunchResult run(Schedule& schedule, AccessObserver* observer = nullptr);
  LaunchResult run_usual_order();
  using Look = std::function<bool(std::uint64_t seed, const LaunchResult& result)>;
  /// Runs orders until there are no more, or `look` returns false. Returns why whoever watches has ended it; empty:
  /// they have not.
  std::string run_orders(const SchedulesWanted& wanted, const Look& look);
  std::optional<Difference> difference_of_bits(std::uint64_t seed);
  Finding explain(std::uint64_t seed, const Difference& difference, const std::optional<Difference>& of_bits);
  /// A finding at a write; an empty one where nobody has written.
  Finding finding_at(const LastWrite& write) const;
  std::string place_text(const LastWrite& write) const;

  const Program& program_;
  DeviceMemory& memory_;
  LaunchConfiguration configuration_;
  ScheduledWork work_;       // these two are known when the usual order has run
  double most_seconds_ = 0;  // for one order
  LaunchMemory& kept_;       // `of_bits` is what the usual order leaves with sums of bits: see Schedule
  bool has_bits_ = false;    // whether that is known
};

}  // namespace convladder::simulated
