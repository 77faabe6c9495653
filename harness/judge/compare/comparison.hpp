// Compares two recorded runs case by case: which moved, by how much, whether that is shown, and why.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/records/recorded_run.hpp"
#include "harness/measure/statistics/change_verdict.hpp"

namespace convladder {

struct ComparisonOptions {
  VerdictLimits limits;
  std::string case_filter;            ///< regular expression over ids; empty: all
  std::vector<std::string> controls;  ///< variants that are the same in both builds, beside the libraries
};

/// The verdict on a case. Only the first four come from figures.
enum class CaseVerdict {
  pass,
  regressed,
  improved,
  inconclusive,
  incomparable,  ///< it was measured under other conditions
  failed,        ///< wrong, crashed, … in one of the records
  missing,       ///< ok in the base, not there or not run in the new record
  added,         ///< only in the new record; shown as "new"
  skipped,       ///< neither record has run it
};

/// All verdicts, in the order in which they are listed.
constexpr CaseVerdict kAllVerdicts[] = {CaseVerdict::regressed,    CaseVerdict::failed,       CaseVerdict::missing,
                                        CaseVerdict::incomparable, CaseVerdict::inconclusive, CaseVerdict::improved,
                                        CaseVerdict::added,        CaseVerdict::pass,         CaseVerdict::skipped};

CaseVerdict case_verdict(Verdict verdict);

/// The name of a verdict: "pass", …, "new", "skipped".
std::string_view case_verdict_name(CaseVerdict verdict);

/// A counter whose value changed.
struct MovedCounter {
  std::string name;
  double base = 0;
  double now = 0;
};

/// A doubt about a verdict: a word to stand beside it, and a sentence.
struct Caveat {
  std::string word;  ///< "disturbed", "scatter", "no control"
  std::string text;
};

struct ComparedCase {
  std::string id;
  std::string device;
  std::string variant;
  std::string group;  ///< "lenet72.conv2, batch 100, on cpu": the cases that were measured side by side
  CaseVerdict verdict = CaseVerdict::inconclusive;
  std::string reason;            ///< one line; empty for a pass that needs none
  std::string base_disturbance;  ///< "disturbed: others used 1.6 of 2 cores"; empty if the base was quiet
  std::string new_disturbance;
  /// Why a change that the figures show may be the machine's all the same, the gravest reason first; empty without one.
  std::vector<Caveat> caveats;
  std::string cause;  ///< from the counters beside the time: "explained: …", "latent: …", …; empty where there are none
  std::string witness;  ///< the variant that it was judged beside; empty if none
  bool control = false;
  std::optional<double> base_median_ns;
  std::optional<double> new_median_ns;
  bool is_predicted = false;           ///< whether the new time is a virtual clock's
  std::optional<ChangeBounds> change;  ///< of the time itself
  std::optional<ChangeBounds> beside;  ///< of its ratio to the witness
  std::vector<MovedCounter> counters;  ///< the simulated device's, exact sums
  std::vector<std::string> lines;      ///< of source, where those that moved most have changed (cited_lines.hpp)
  std::vector<MovedCounter> modelled;  ///< from its model of the caches; for information
};

struct Comparison {
  const RecordedRun& base;
  const RecordedRun& now;
  ComparisonOptions options;
  std::vector<ComparedCase> cases;  ///< in the order of the base, then new ones
  std::vector<std::string> notes;

  int count(CaseVerdict verdict) const;
  /// The exit code of `convladder compare`: 1 if a case regressed or failed; otherwise 4 if one is missing or
  /// incomparable, or none could be compared; otherwise 2 if one is inconclusive; otherwise 0.
  int exit_code() const;
};

/// Compares two runs, which must live as long as the result. Throws UserError if the filter is no regular expression,
/// or a control is no variant of either record.
Comparison compare_runs(const RecordedRun& base, const RecordedRun& now, const ComparisonOptions& options);

}  // namespace convladder
