// Impossible times: shorter than the device's limits, as measured in the same run, allow.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/cases/ceilings.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// A time that a case claims for work that holds a whole convolution.
struct ClaimedTime {
  std::string of;  ///< as shown to people: "op time"
  double ns = 0;
};

/// The least time of a convolution, by the highest limits that were seen.
///   operations = taps on the image / what the algorithm saves / (FMA peak * uncertainty)
///   bytes      = output written once and input read once, as far as both exceed the last-level cache, at the rates of
///                streaming stores and of a copy's reads, times the uncertainty
/// The uncertainty is 1.25, or the ratio of the limit's highest sample to its median where that is more: on a busy
/// machine limits scatter, and a case may have met a quieter moment than they did.
class TimeJudge {
 public:
  /// If a run samples the ceilings anyway, its samples are used and added to; they must outlive the judge.
  explicit TimeJudge(CeilingSampler& ceilings) : ceilings_(ceilings) {}

  /// Empty if all of the times are possible, otherwise why one is not, with both figures, in one line. Before it
  /// refuses a time it samples the limits again, some seconds long: they might have been taken in a busy moment. In a
  /// build with sanitizers or without optimisation the limits are not the machine's, and nothing is refused.
  std::string refusal(const std::string& device, const ProblemSize& shape, double saved_operations,
                      const std::vector<ClaimedTime>& times);

 private:
  CeilingSampler& ceilings_;
};

/// How many times faster than the device's FMA peak the variant's multiplications may get: by the multiplications that
/// its algorithm saves, in a library perhaps most of a filter's taps, and by tensor cores where the arithmetic is
/// coarser than float32.
double most_saved(const ProblemVariant& variant, const ProblemSize& shape);

}  // namespace convladder
