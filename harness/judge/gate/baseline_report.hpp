// The outcome of `convladder baseline` as text, JSON and Markdown.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/gate/baseline_compare.hpp"

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

/// The number of cases with each verdict: "154 cases: 150 same, 4 moved".
std::string summary_line(const BaselineReport& report);

/// The report as text of at most 100 columns. For every case that moved, the counters with the greatest changes; cases
/// that are the same are only counted, all others listed.
std::string report_text(const BaselineReport& report);
/// The report as JSON: every case and every counter that moved. Infinite changes are null.
std::string report_json(const BaselineReport& report);
/// The report as Markdown tables for a pull request; texts from files are escaped.
std::string report_markdown(const BaselineReport& report);

}  // namespace convladder
