// The outcome of `convladder baseline` as text, JSON and Markdown.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/gate/baseline_compare.hpp"

namespace convladder {

struct BaselineReport {
  std::vector<ComparedCounters> cases;
  std::vector<std::string> notes;  ///< what was not looked at, and what all cases have in common

  std::size_t count(BaselineVerdict verdict) const;
  /// 1 if a case moved or failed, 2 if one has nothing to be compared with, 0 if all are the same.
  int exit_code() const;
  /// By verdict as BaselineVerdict has them; among those that moved, the greatest change first.
  void sort();
};

/// "154 cases: 150 same, 4 moved".
std::string summary_line(const BaselineReport& report);

/// At most 100 columns. Of every case that moved the counters with the greatest changes; cases that are the same are
/// counted, all others listed.
std::string report_text(const BaselineReport& report);
/// Every case and every counter that moved. Infinite changes are null.
std::string report_json(const BaselineReport& report);
/// Tables for a pull request; texts from files are escaped.
std::string report_markdown(const BaselineReport& report);

}  // namespace convladder
