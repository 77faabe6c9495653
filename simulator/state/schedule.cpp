#include "simulator/state/schedule.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

namespace convladder::simulated {
namespace {

/// The most orders with one interruption that are tried one by one.
constexpr std::uint64_t kMostInOrder = 20'000;

constexpr std::uint32_t kToTheEnd = std::numeric_limits<std::uint32_t>::max();

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// How many ways a warp can be left for another, or for another block.
std::uint64_t ways_to_go(const ScheduledWork& work) { return std::max(1U, work.warps) - 1 + (work.blocks > 1 ? 1 : 0); }

/// Steps through `count` numbers, each once, so that neighbours come late.
std::uint64_t spread(std::uint64_t number, std::uint64_t count) {
  auto step = static_cast<std::uint64_t>(static_cast<double>(count) * 0.618033988749895) | 1U;
  while (std::gcd(step, count) != 1) ++step;
  return number % count * step % count;
}

}  // namespace

std::uint64_t orders_with_one_interruption(const ScheduledWork& work) {
  const std::uint64_t ways = ways_to_go(work);
  return ways != 0 && work.points > kMostInOrder / ways ? 0 : work.points * ways;
}

bool is_seen_by_others(std::string_view opcode) {
  constexpr std::string_view own[] = {"ld.param", "st.param", "ld.local", "st.local", "ld.const"};
  constexpr std::string_view seen[] = {"ld.",   "ldu.",  "st.",    "stmatrix", "ldmatrix",  "atom",    "red.",
                                       "cp.",   "mbar",  "wgmma",  "wmma.lo",  "wmma.st",   "suld",    "sust",
                                       "sured", "fence", "membar", "multimem", "tensormap", "clusterl"};
  const auto begins = [opcode](std::string_view word) { return opcode.starts_with(word); };
  return std::ranges::none_of(own, begins) && std::ranges::any_of(seen, begins);
}

bool stores_lane_by_lane(std::string_view opcode) {
  return opcode.starts_with("st.") || opcode.starts_with("red.") || opcode.starts_with("atom.");
}

Schedule::Schedule(std::uint64_t seed, const ScheduledWork& work)
    : seed_(mixed(seed)), state_(seed_), warps_(work.warps) {
  constexpr unsigned kHalf = 128;
  if (seed == 0) return;
  if (seed == 1) {
    way_ = Way::reversed;
    early_ = 256;
    open_at_a_time_ = std::numeric_limits<std::uint64_t>::max();
    return;
  }
  const std::uint64_t orders = orders_with_one_interruption(work);
  if (orders > 0 && seed % 2 == 0) {
    way_ = Way::one_interruption;
    const std::uint64_t number = spread(seed / 2, orders);
    interrupted_at_ = number / ways_to_go(work) + 1;
    goes_to_ = static_cast<unsigned>(number % ways_to_go(work)) + 1;
    open_at_a_time_ = 2;
    early_ = chance(kHalf) ? 256 : 0;
    return;
  }
  constexpr Way ways[] = {Way::interruptions, Way::turns, Way::priorities};
  way_ = ways[(orders > 0 ? seed / 2 : seed) % std::size(ways)];
  constexpr std::uint64_t kMostOpen = 32;
  open_at_a_time_ = 2 + random() % kMostOpen;
  constexpr unsigned of_256[] = {0, 32, 128, 256};
  early_ = of_256[random() % std::size(of_256)];
  between_ = of_256[random() % 3];
  late_ = of_256[random() % 3];
  apart_ = of_256[random() % 3];
  often_ = 64 + random() % kHalf;
  if (way_ == Way::priorities) {
    constexpr int kFalls = 3;
    for (int i = 0; i < kFalls; ++i) falls_.push_back(1 + random() % std::max<std::uint64_t>(1, work.points));
    std::ranges::sort(falls_);
  }
  draw_quantum();
}

std::uint64_t Schedule::random() { return mixed(++state_); }

/// Points until the next interruption: often few, so that two warps alternate, and now and then none at all.
void Schedule::draw_quantum() {
  if (way_ != Way::interruptions) return;
  const std::uint64_t drawn = random();
  if (drawn % 256 < often_) {
    quantum_ = (drawn >> 8) % 4;
  } else if (drawn % 4 == 0) {
    quantum_ = ~0ULL;
  } else {
    quantum_ = (drawn >> 8) % 64;
  }
}

void Schedule::order(std::span<std::uint64_t> clusters) {
  if (way_ == Way::usual || way_ == Way::one_interruption) return;
  if (way_ == Way::reversed) {
    std::ranges::reverse(clusters);
    return;
  }
  for (std::size_t i = clusters.size(); i > 1; --i) std::swap(clusters[i - 1], clusters[which_of(i)]);
}

std::size_t Schedule::next_of(std::size_t count) {
  leaves_ = false;
  const bool in_order = way_ == Way::usual || way_ == Way::one_interruption || way_ == Way::reversed;
  return in_order ? 0 : which_of(count);
}

std::uint32_t Schedule::turns() {
  if (way_ == Way::usual || way_ == Way::reversed || way_ == Way::one_interruption) return kToTheEnd;
  const std::uint64_t drawn = random();
  if (drawn % 4 == 0) return kToTheEnd;
  return static_cast<std::uint32_t>(drawn % 4 == 1 ? 1 : 1 + (drawn >> 8) % 16);
}

std::int64_t Schedule::priority(std::uint64_t block, int warp) const {
  const auto fallen = fallen_.find({block, warp});
  if (fallen != fallen_.end()) return fallen->second;
  return static_cast<std::int64_t>(mixed(seed_ ^ mixed(block * 64 + static_cast<std::uint64_t>(warp))) >> 1);
}

std::size_t Schedule::next_warp(std::uint64_t block, std::span<const int> warps) {
  const bool is_same_block = std::exchange(last_block_, block) == block;
  const auto number_above = [&](int warp) {
    return static_cast<std::size_t>(std::ranges::find_if(warps, [warp](int one) { return one > warp; }) -
                                    warps.begin());
  };
  const auto after_last = [&](unsigned further) {
    return (number_above(is_same_block ? last_warp_ : -1) + further) % warps.size();
  };
  const auto before_last = [&] {
    const std::size_t from_last = is_same_block ? number_above(last_warp_ - 1) : warps.size();
    return (from_last + warps.size() - 1) % warps.size();
  };
  std::size_t next = 0;
  switch (way_) {
    case Way::usual:
      next = after_last(0);
      break;
    case Way::one_interruption:
      next = after_last(std::exchange(just_interrupted_, false) ? goes_to_ - 1 : 0);
      break;
    case Way::reversed:
      next = before_last();
      break;
    case Way::priorities: {
      const auto best = std::ranges::max_element(warps, {}, [&](int warp) { return priority(block, warp); });
      next = static_cast<std::size_t>(best - warps.begin());
      break;
    }
    default:
      next = which_of(warps.size());
  }
  last_warp_ = warps[next];
  draw_quantum();
  return next;
}

void Schedule::turn_ended(std::uint64_t block, int warp, bool by_itself) {
  if (way_ == Way::priorities && by_itself) fallen_[{block, warp}] = --lowest_;
}

bool Schedule::interrupts(std::uint64_t block, int warp) {
  ++points_;
  switch (way_) {
    case Way::interruptions:
      if (quantum_ == ~0ULL || quantum_-- > 0) return false;
      draw_quantum();
      return true;
    case Way::priorities:
      if (falls_.empty() || points_ < falls_.front()) return false;
      falls_.erase(falls_.begin());
      fallen_[{block, warp}] = --lowest_;
      return true;
    case Way::one_interruption:
      if (points_ != interrupted_at_) return false;
      just_interrupted_ = goes_to_ < warps_;
      leaves_ = !just_interrupted_;
      return true;
    default:
      return false;
  }
}

bool Schedule::takes_other_path() { return way_ == Way::interruptions && chance(128); }

LaneMask Schedule::first_of(LaneMask lanes) {
  if (lanes == 0) return lanes;
  if (!chance(apart_) && way_ != Way::reversed) return lanes;
  const LaneMask highest = LaneMask{1} << (31 - std::countl_zero(lanes));
  if (way_ == Way::reversed) return highest;
  const auto some = static_cast<LaneMask>(random()) & lanes;
  return some == 0 ? lanes : some;
}

}  // namespace convladder::simulated
