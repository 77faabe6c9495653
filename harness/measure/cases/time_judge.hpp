// Impossible times: shorter than the device's limits, as measured in the same run, allow.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/cases/case_outcome.hpp"
#include "harness/measure/cases/ceilings.hpp"
#include "harness/measure/isolation/status.hpp"
#include "harness/measure/machine/machine_load.hpp"
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
  TimeJudge(CeilingSampler& ceilings, MachineWatch& machine) : ceilings_(ceilings), machine_(machine) {}

  /// None if all of the times are possible, otherwise why one is not, with both figures. Before it refuses a time it
  /// samples the limits again, some seconds long: they might have been taken in a busy moment. They are held against
  /// the highest that this machine has reached before, too. In a build with sanitizers or without optimisation the
  /// limits are not the machine's, and nothing is refused. `since`: when the case began.
  std::optional<Refusal> refusal(const std::string& device, const ProblemSize& shape, double saved_operations,
                                 const std::vector<ClaimedTime>& times, std::chrono::steady_clock::time_point since);
  /// The status of a case for which the machine may be to blame, as for an answer that came too late: `status` only if
  /// nobody kept the machine busy since then, otherwise not judged.
  Refusal blamed(const std::string& device, Status status, const std::string& reason,
                 std::chrono::steady_clock::time_point since);

 private:
  CeilingSampler& ceilings_;
  MachineWatch& machine_;
};

/// Host threads that a case on the device keeps busy.
inline int host_threads_of(const std::string& device) { return device == "cpu" ? cpu_threads() : 1; }

/// How many times faster than the device's FMA peak the variant's multiplications may get: by the multiplications that
/// its algorithm saves, in a library perhaps most of a filter's taps, and by tensor cores where the arithmetic is
/// coarser than float32.
double most_saved(const ProblemVariant& variant, const ProblemSize& shape);

}  // namespace convladder
