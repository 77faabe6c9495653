// The summary at the end of a run: tables, notes, where its figures are.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "harness/measure/runs/run_record.hpp"

namespace convladder {

/// How much of the summary is wanted.
struct SummaryOptions {
  bool tables = true;
  bool verbose = false;               ///< every table, every note whole
  std::vector<std::string> own = {};  ///< stages that were brought along (--with): the last word is theirs
};

/// Prints notes and tables of a finished run: every ladder where few were run, otherwise a summary of them; and at the
/// end a sentence on each stage of one's own, or on the best one of a single ladder. `notes` are those that the record
/// does not have.
void print_summary(std::FILE* stream, const RunFigures& run, const std::vector<std::string>& notes,
                   const SummaryOptions& options);

}  // namespace convladder
