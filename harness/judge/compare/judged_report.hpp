// Cases with their verdicts as text for a terminal and as Markdown for a review: the layout of `compare` and `duel`.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "harness/judge/compare/comparison.hpp"
#include "support/report.hpp"

namespace convladder {

/// A verdict as a table shows it, with a word of doubt beside it: "regressed (no control)".
std::string verdict_text(CaseVerdict verdict, const std::string& doubt);

struct JudgedRow {
  std::string id;
  std::string table;                 ///< the title of the table that the case stands in; empty: in none
  std::string name;                  ///< in that table
  std::vector<std::string> figures;  ///< beside the name
  CaseVerdict verdict = CaseVerdict::inconclusive;
  std::string reason;  ///< in the list of the cases with this verdict
  std::string why;     ///< in Markdown
};

struct JudgedCases {
  std::string base;  ///< the sides, a line each
  std::string now;
  std::string named = "variant";    ///< what the name of a row is
  std::vector<TextColumn> columns;  ///< of the figures
  std::vector<JudgedRow> rows;
  ReportSection more{.heading = {}, .shown = Shown::in_text};          ///< behind the lists of the verdicts
  std::vector<std::string> remarks;                                    ///< before the notes, a line each
  std::vector<std::string> notes;                                      ///< a line each
  std::string limits;                                                  ///< the claims, a sentence
  std::string outcome;                                                 ///< "pass (exit code 0)"
  std::size_t most_skipped = std::numeric_limits<std::size_t>::max();  ///< if there are more, they are only counted
};

/// The outcome with the numbers of verdicts, the sides, the cases, remarks, notes and limits. As text a table for each
/// title, and the cases that did not pass by verdict and reason; as Markdown one table of all cases.
Report judged_report(const JudgedCases& judged);

}  // namespace convladder
