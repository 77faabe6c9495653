// Times that a case claims, held against the clock of the one who asked.
#pragma once

#include <string>
#include <vector>

namespace convladder {

class ClaimedTimes {
 public:
  /// One answer: the nanoseconds that it claims for its timed calls, all of them together, and what it took by our own
  /// clock; 0 where that was not looked at. `all_is_timed`: nothing was done beside these calls but what may have taken
  /// `other_ns`.
  void add(double claimed_ns, double observed_ns, bool all_is_timed, double other_ns = 0);

  /// Empty if the claims may be true, otherwise both figures, in one line. To move the median of what is claimed, half of
  /// the claims have to be wrong, and then the median of what was observed is another one as well: so medians are
  /// compared. A claim may not exceed what was observed, nor fall below it by more than 30 % and 1 ms, which is what a
  /// busy machine takes for a message there and back.
  std::string mismatch() const;

 private:
  std::vector<double> claimed_ns_;
  std::vector<double> observed_ns_;
  std::vector<double> most_ns_;  ///< of each answer, what is allowed to be observed for the claim
  bool all_is_timed_ = true;
};

}  // namespace convladder
