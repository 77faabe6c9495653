// Compares the counters of the simulated device with recorded ones: exactly, counter by counter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/gate/baseline_count.hpp"
#include "harness/judge/gate/baseline_file.hpp"

namespace convladder {

/// A counter whose value changed.
struct CounterMove {
  std::string kernel;   ///< "convladder::conv_shared_memory"
  std::string counter;  ///< the profiler's name; "launches", "grid.x", "block.x" for the launches themselves
  bool modelled = false;
  std::optional<double> recorded;  ///< none: it was not counted then
  std::optional<double> now;       ///< none: it is not counted any more

  /// now / recorded - 1; infinite where the recorded value was 0, or only one of them exists.
  double change() const;
  /// Our title for the profiler's name: "global load sectors". An unknown counter can have any name: it is cut short.
  std::string title() const;
};

enum class BaselineVerdict {
  moved,             ///< counters moved, or the variant no longer runs the layer
  failed,            ///< it could not be counted: the launch failed
  compiler_changed,  ///< recorded from other versions of the compiler only, and from other PTX
  shape_changed,     ///< recorded for another shape or batch
  is_new,            ///< no baseline
  missing,           ///< there is a baseline, but no such case in this program
  same,
};

/// A verdict's name, in the order of the enumeration: "moved", "compiler changed", "new", ….
std::string_view verdict_name(BaselineVerdict verdict);

struct ComparedCounters {
  std::string id;  ///< simulated/variant/network.layer/batch
  std::string compiler;
  std::string version;
  BaselineVerdict verdict = BaselineVerdict::same;
  bool ptx_changed = false;        ///< relative to the baseline that it is compared with
  std::string reason;              ///< in one line, for every verdict except "same" and moved counters
  std::vector<CounterMove> moves;  ///< the greatest change first, counted before modelled
};

/// Compares one counted case with the network's baseline, which may be empty: with the case from the same compiler
/// version, or else from another version whose PTX is the same.
ComparedCounters compare_case(const std::string& network, const CountedCase& counted,
                              const std::vector<BaselineCase>& recorded);

/// Whether a counted case corresponds to a recorded one: same compiler, version, layer and variant.
bool same_place(const BaselineCase& a, const BaselineCase& b);

/// The result for a recorded case that this program does not have.
ComparedCounters missing_case(const std::string& network, const BaselineCase& recorded);

}  // namespace convladder
