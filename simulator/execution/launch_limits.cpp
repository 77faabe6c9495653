#include "simulator/execution/launch_limits.hpp"

#include <fmt/format.h>

#include <utility>

namespace convladder::simulated {
namespace {

constexpr std::uint32_t kLoopsBetweenLooks = 4096;

/// The number with commas: "12,000,000".
std::string with_commas(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace

void RunningLaunch::stop_behind(std::uint64_t block) {
  std::uint64_t first = first_stopped;
  while (block < first && !first_stopped.compare_exchange_weak(first, block)) {
  }
}

BlockLimits::BlockLimits(const LaunchLimits& limits, RunningLaunch& launch, RunTotals& totals)
    : limits_(limits),
      launch_(launch),
      totals_(totals),
      most_operations_(limits.operations == 0 ? ~std::uint64_t{0} : limits.operations) {}

std::string BlockLimits::begin_block(std::uint64_t block, std::uint64_t memory_changes) {
  block_ = block;
  added_ = 0;
  loops_until_look_ = kLoopsBetweenLooks;
  totals_.looked_at_changes = memory_changes;
  totals_.operations_without_change = 0;
  return reason();
}

std::string BlockLimits::look(std::uint64_t executed, std::uint64_t memory_changes) {
  loops_until_look_ = kLoopsBetweenLooks;
  totals_.operations_without_change += add(executed);
  if (memory_changes != totals_.looked_at_changes) {
    totals_.looked_at_changes = memory_changes;
    totals_.operations_without_change = 0;
  }
  if (limits_.operations_without_change > 0 && totals_.operations_without_change > limits_.operations_without_change) {
    return fmt::format("after {} instructions of one block that changed no memory",
                       with_commas(limits_.operations_without_change));
  }
  return reason();
}

std::string BlockLimits::end_block(std::uint64_t executed) {
  add(executed);
  ++launch_.blocks_ended;
  return launch_.operations > most_operations_ ? reason() : "";
}

std::uint64_t BlockLimits::add(std::uint64_t executed) {
  const std::uint64_t more = executed - std::exchange(added_, executed);
  launch_.operations += more;
  return more;
}

std::string BlockLimits::reason() {
  if (block_ > launch_.first_stopped) return "behind a block that was stopped";
  if (launch_.operations > most_operations_) {
    return fmt::format("after {} instructions, with {} of {} blocks done", with_commas(limits_.operations),
                       launch_.blocks_ended.load(), launch_.blocks);
  }
  if (!limits_.watch) return "";
  const std::unique_lock lock(launch_.watching, std::try_to_lock);
  if (!lock) return "";
  return limits_.watch({launch_.blocks_ended, launch_.blocks, launch_.operations});
}

}  // namespace convladder::simulated
