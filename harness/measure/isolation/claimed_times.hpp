// Times that a case claims, compared with the harness's own clock.
#pragma once

#include <string>
#include <vector>

#include "harness/measure/isolation/processor_turns.hpp"

namespace convladder {

/// A busy machine may have disturbed all of a few answers, so a case is asked this many more times before it is
/// refused.
inline constexpr int kMostReconsidered = 12;

class ClaimedTimes {
 public:
  ClaimedTimes() = default;
  /// `is_beside_others`: other processes use the device as well. Their turns, some milliseconds long, are in the
  /// observed times and not in the claimed ones; in every answer, if they keep step with it.
  explicit ClaimedTimes(bool is_beside_others) : is_beside_others_(is_beside_others) {}

  /// Adds one answer: the nanoseconds that it claims for its timed calls, all of them together, and how long it took.
  /// `all_is_timed`: nothing was done besides these calls except work that may have taken `other_ns`.
  void add(double claimed_ns, const ObservedAnswer& observed, bool all_is_timed, double other_ns = 0);

  /// Empty if the claims may be true, otherwise both figures, in one line. A claim may not exceed the observed time.
  /// The observed time may exceed it by 30 %, and by a millisecond in the least disturbed answer: a case that claims
  /// too little every time is found there. To move a median only every second claim has to be wrong: so the median may
  /// exceed it by no more than 4 ms, which a message there and back takes on a busy machine. Time spent waiting for a
  /// processor does not count, unless the process itself kept all of them busy for longer than it claims; and however
  /// it waited, its first thread may not have worked for longer. Beside other processes on the device it may be 25 ms.
  std::string mismatch() const;

 private:
  std::vector<double> claimed_ns_;
  std::vector<double> observed_ns_;
  std::vector<double> unexplained_ns_;  ///< of each answer, the part of the observed time that waiting for a processor
                                        ///< does not explain
  bool all_is_timed_ = true;
  bool is_beside_others_ = false;
};

}  // namespace convladder
