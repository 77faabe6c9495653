// The outcome of `convladder baseline`, as a report. Its JSON is in baseline_file.hpp.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/gate/baseline_compare.hpp"
#include "support/report.hpp"

namespace convladder {

struct BaselineReport {
  std::vector<ComparedCounters> cases;
  std::vector<std::string> notes;  ///< about cases that were not looked at, and about facts that all cases share

  std::size_t count(BaselineVerdict verdict) const;
  /// The exit code of `convladder baseline`: 1 if a case moved or failed, 2 if one has nothing to be compared with, 0
  /// if all are the same.
  int exit_code() const;
  /// Sorts the cases in the order of BaselineVerdict; among those that moved, the greatest change comes first.
  void sort();
};

/// The counters with the greatest changes of every case that moved, as Markdown all of them; cases that are the same
/// are only counted, all others listed.
Report baseline_report(const BaselineReport& compared);

}  // namespace convladder
