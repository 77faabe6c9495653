#include "variants/timed_choice.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace convladder {
namespace {

constexpr double kWarmUpSeconds = 0.02;  // by the host's clock: the device's may be virtual
constexpr double kLongestWarmUpSeconds = 0.5;
constexpr double kSteady = 0.05;        // turns that differ by less show a steady clock
constexpr double kHopeless = 3;         // times the quickest: a slower way is not timed again
constexpr std::size_t kRounds = 6;      // even, so that there are as many turns in each direction
constexpr double kLongestTurnNs = 1e9;  // a device that needs longer for a turn has warmed up during it

/// Runs all ways until the device's clock no longer rises.
void warm_up(Device& device, std::size_t ways, const std::function<void(std::size_t)>& run) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto turn_ns = [&] {
    return device.time_ns([&] {
      for (std::size_t way = 0; way < ways; ++way) run(way);
    });
  };
  double before = turn_ns();
  while (before < kLongestTurnNs) {
    const double now = turn_ns();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const bool steady = std::abs(now - before) <= kSteady * before;
    if ((steady && seconds >= kWarmUpSeconds) || seconds >= kLongestWarmUpSeconds) return;
    before = now;
  }
}

/// Times each way once, in that order.
std::vector<double> turn(Device& device, const std::vector<std::size_t>& order,
                         const std::function<void(std::size_t)>& run) {
  const auto before = [&](std::size_t place) {
    device.flush_caches();  // takes the device longer than the host needs to enqueue what follows
    run(order[place]);      // fills the caches again
  };
  return device.times_ns(order.size(), before, [&](std::size_t place) { run(order[place]); });
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace

std::vector<double> times_of_ways(Device& device, std::size_t ways, const std::function<void(std::size_t)>& run) {
  if (ways == 0) return {};
  warm_up(device, ways, run);
  std::vector<std::size_t> order(ways);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> times = turn(device, order, run);
  const double most = kHopeless * *std::ranges::min_element(times);
  std::erase_if(order, [&](std::size_t way) { return times[way] > most; });
  std::vector<std::vector<double>> shares(ways);  // of the mean of a turn, so that the clock's speed cancels out
  std::vector<double> means;
  for (std::size_t round = 0; round < kRounds; ++round) {
    const std::vector<double> once = turn(device, order, run);
    means.push_back(std::accumulate(once.begin(), once.end(), 0.0) / static_cast<double>(once.size()));
    for (std::size_t place = 0; place < order.size(); ++place) {
      shares[order[place]].push_back(once[place] / means.back());
    }
    std::ranges::reverse(order);
  }
  for (const std::size_t way : order) times[way] = median(shares[way]) * median(means);
  return times;
}

}  // namespace convladder
