// A case as a record holds it, and the values from which its other figures follow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/measure/cases/case_outcome.hpp"
#include "harness/measure/cases/counters.hpp"
#include "harness/measure/cases/floor.hpp"
#include "harness/measure/isolation/status.hpp"
#include "harness/measure/machine/quality.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/records/prediction.hpp"
#include "simulator/gpus/time_model.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

/// One kind of time of a case, in nanoseconds.
struct TimeFigure {
  std::string of;     ///< time_of::…
  std::string cache;  ///< "hot", "launched", "cold", or empty
  double median = 0;
  std::optional<double> low;  ///< of the median's interval; `high` is the other end
  std::optional<double> high;
  std::optional<double> level = {};  ///< of the interval from `low` to `high`
  std::vector<double> samples;       ///< in the order they were taken
  std::string wave = {};             ///< times with the same one were sampled side by side; empty where nobody says
  std::vector<int> rounds = {};      ///< of its wave, in which each sample was taken; empty: 0, 1, 2, …
  int iterations = 1;                ///< calls of each sample
  bool is_predicted = false;         ///< by a virtual clock

  bool is_hot() const { return cache.empty() || cache == "hot"; }
  bool operator==(const TimeFigure&) const = default;
};

/// Above every share of occupancy: no kernel is known.
inline constexpr double kNoOccupancy = 2;

/// A predicted time on a named GPU. Its texts hold no control characters.
struct PredictedFigure {
  std::string gpu;                ///< "h100"
  std::optional<double> low_ns;   ///< none if it cannot be launched there
  std::optional<double> high_ns;  ///< none if it cannot be launched there
  std::string binding_low;        ///< "load/store unit"
  std::string binding_high;
  double occupancy = 0;                   ///< of the kernel with the least
  std::string limited_by;                 ///< "registers, shared memory"
  std::size_t launches = 0;               ///< kernels of a call, one after the other
  std::array<Range, kTimeTerms> terms{};  ///< ns of each term, over all kernels; 0 if it cannot be launched there

  bool runs() const { return low_ns && high_ns; }
  /// The geometric mean of both ends, in ns: only for comparing predictions with each other. For one that runs.
  double middle_ns() const;
  bool operator==(const PredictedFigure&) const = default;
};

/// The dimensions of a problem by name, and the values that follow from them.
using RecordedShape = std::vector<std::pair<std::string, std::int64_t>>;

/// The checkers' look at a stage, as a record has it.
struct CheckerLook {
  std::size_t findings = 0;  ///< without notes
  std::string not_checked;   ///< the reason why nobody could look, without control characters; empty if somebody did
  int orders = 0;            ///< other orders of its launches that were tried
  int others = 0;            ///< of these: with other results, or that failed
  std::string orders_not_tried = {};  ///< why there were none, or not all; empty: they were, or nobody asked
  double seconds = 0;
  bool operator==(const CheckerLook&) const = default;
};

CheckerLook checker_look(const StageFindings& found);
/// For people: how many cases the checkers looked at, and a line for each reason why they could not look. None for
/// none.
std::vector<std::string> checker_lines(const std::vector<CheckerLook>& looks);

struct RecordedCase {
  std::string id;
  std::string variant;
  std::string family;
  std::string device;
  std::string network;
  std::string layer;
  int batch = 0;
  std::optional<int> rung;  ///< none: a library, or a stage without an idea
  std::string leaves_out;   ///< the idea that is left out; empty for all others
  Status status = Status::ok;
  std::string reason;  ///< without control characters
  std::string input;
  std::string choice;
  RecordedShape shape = {};
  std::optional<TimeFigure> time;
  std::optional<CaseCounters> counters;
  std::optional<Quality> quality;
  std::optional<CheckerLook> look;  ///< none for code that is part of this program, and for cases that were not right
  int session = 0;

  // Only of a case that was read whole (case_json.hpp).
  std::optional<ProblemSize> size;           ///< none for a problem that this program does not have
  std::optional<LeastWork> least_work = {};  ///< for its floor; as its ladder has it where `size` is none
  double flop = 0;
  double minimum_bytes = 0;
  double tolerance = 0;  ///< the error tolerance of its verification; fp32's where it was not verified
  double blocks = 0;     ///< in its largest counted launch; 0 if nothing was counted
  std::vector<TimeFigure> other_times;
  std::vector<PredictedFigure> predictions;

  bool ok() const { return status == Status::ok; }
  /// Whether the case was run and went wrong.
  bool failed() const { return is_failure(status); }
  /// Whether the case is a library's, which stands beside the ladder.
  bool library() const { return !rung && leaves_out.empty(); }
  /// The time from NCHW in to NCHW out: the case's own, or the one beside its op time. Null where it has none.
  const TimeFigure* layer_time() const;
  /// The time of the convolution alone in a layout of the case's own. Null for a case that works in NCHW.
  const TimeFigure* op_time() const;
  /// The prediction for that GPU; null without one, and where it cannot be launched there.
  const PredictedFigure* prediction_for(std::string_view gpu) const;
  /// "disturbed: others used 1.6 of 2 cores"; empty if the case's quality is good or not recorded.
  std::string disturbance() const;
  /// The place on which the case can be compared: device, family, network, layer, batch.
  auto place() const { return std::tie(device, family, network, layer, batch); }
  bool operator==(const RecordedCase&) const = default;
};

/// Warp instructions of the whole batch; none where nothing was counted.
inline std::optional<double> warp_instructions(const RecordedCase& one) {
  return one.counters ? warp_instructions(*one.counters) : std::nullopt;
}

/// The fields of a recorded variant on which figures depend.
struct RecordedVariant {
  std::string family;
  std::string name;
  std::string builds_on;  ///< empty for the first of a ladder and for libraries
  bool leaves_out = false;
  std::string title;
  std::optional<int> rung;
  std::string hypothesis = {};
};

/// The figures of a case that has just ended: those that are read from the record once it is written there.
RecordedCase recorded_case(const PlannedCase& planned, const CaseOutcome& outcome);
RecordedVariant recorded_variant(const VariantInfo& info);

RecordedShape shape_of(const ProblemSize& size);

/// Blocks of the largest launch; 0 without any.
double most_blocks(const std::vector<KernelCounters>& kernels);

/// For a case whose stage lies in a folder, a hash of everything that it was compiled from, of its problem and of its
/// reference; empty for others.
std::string made_of(const PlannedCase& planned);

/// scale * numerator / denominator; none if one of them is missing, or the denominator is not above 0.
std::optional<double> ratio(std::optional<double> numerator, std::optional<double> denominator, double scale = 1);

}  // namespace convladder
