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
  bool verbose = false;  ///< every table, every note whole
};

/// Prints notes and tables of a finished run: every ladder where few were run, otherwise a summary of them. `notes` are
/// those that the record does not have.
void print_summary(std::FILE* stream, const RunFigures& run, const std::vector<std::string>& notes,
                   const SummaryOptions& options);

}  // namespace convladder
