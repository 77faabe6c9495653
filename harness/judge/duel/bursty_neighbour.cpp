#include "harness/judge/duel/bursty_neighbour.hpp"

#include <chrono>
#include <stop_token>

#include "devices/cpu/cpu_facts.hpp"
#include "support/seeded_random.hpp"

namespace convladder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLongestBurst = 80;  // milliseconds
constexpr int kLongestPause = 160;

void disturb(const std::stop_token& stop, std::uint64_t seed, std::uint64_t stream) {
  SeededRandom random(seed, stream);
  volatile double sink = 1;
  while (!stop.stop_requested()) {
    const auto end = Clock::now() + std::chrono::milliseconds(random.between(1, kLongestBurst));
    while (Clock::now() < end) {
      for (int i = 0; i < 1000; ++i) sink = sink * 1.000001;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random.between(1, kLongestPause)));
  }
}

}  // namespace

BurstyNeighbour::BurstyNeighbour(std::uint64_t seed) {
  for (int i = 0; i < usable_cores(); ++i) {
    threads_.emplace_back(
        [seed, i](const std::stop_token& stop) { disturb(stop, seed, static_cast<std::uint64_t>(i)); });
  }
}

}  // namespace convladder
