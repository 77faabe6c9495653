// A disturbing load: threads that compute in bursts of random length with random pauses, as a neighbour on the same
// machine does. For `convladder duel --selftest --neighbour bursty`.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

namespace convladder {

class BurstyNeighbour {
 public:
  /// Starts a thread for every core of the process. Bursts last 1 … 80 ms, pauses 1 … 160 ms; each thread has its own
  /// seeded sequence.
  explicit BurstyNeighbour(std::uint64_t seed);

 private:
  std::vector<std::jthread> threads_;  // asked to stop and joined in the destructor
};

}  // namespace convladder
