// A run in Google Benchmark's own output formats, so that its tools keep working.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/records/case_figures.hpp"

namespace convladder {

/// What the `--benchmark_*` flags ask of the output.
struct GoogleOutput {
  std::optional<std::string> console_format;  ///< --benchmark_format: "console", "json" or "csv"
  std::string file;                           ///< --benchmark_out
  std::string file_format = "json";           ///< --benchmark_out_format
  bool aggregates_only = false;               ///< --benchmark_report_aggregates_only
};

/// Writes every case that has a time, with Google Benchmark's reporters: a run for each sample and its aggregates.
/// Throws UserError if the file cannot be written.
void write_google_output(const GoogleOutput& output, const std::vector<CaseFigures>& cases);

}  // namespace convladder
