// What a run says at its end: tables, notes, where its figures are.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "harness/measure/runs/run_record.hpp"

namespace convladder {

/// How much of it is wanted.
struct SummaryOptions {
  bool tables = true;
  bool verbose = false;  ///< every table, every note whole
};

/// Notes and tables of a finished run: every ladder where few were run, otherwise what they tell. `notes` are those
/// that the record does not know.
void print_summary(std::FILE* stream, const RunFigures& run, const std::vector<std::string>& notes,
                   const SummaryOptions& options);

}  // namespace convladder
