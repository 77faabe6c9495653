// A run in Google Benchmark's own output formats, so that its tools keep working.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/records/recorded_case.hpp"

namespace convladder {

/// The output that the `--benchmark_*` flags ask for.
struct GoogleOutput {
  std::optional<std::string> console_format;  ///< --benchmark_format: "console", "json" or "csv"
  std::string file;                           ///< --benchmark_out
  std::string file_format = "json";           ///< --benchmark_out_format
  bool aggregates_only = false;               ///< --benchmark_report_aggregates_only
};

/// A case as Google Benchmark's reporters show it.
struct GoogleCase {
  std::string name;
  std::string error;            ///< why it has no time
  std::vector<double> samples;  ///< nanoseconds of one call; empty with an error
  int iterations = 1;           ///< the number of calls in each sample
  std::string label;            ///< any text; empty for none
};

/// The text of Google Benchmark's JSON reporter: a run for each sample, and its aggregates. Its `context` describes
/// this process and this machine.
std::string google_json_text(const std::vector<GoogleCase>& cases, bool aggregates_only);

/// Writes every case that has a time, with Google Benchmark's reporters: a run for each sample and its aggregates.
/// Throws UserError if the file cannot be written.
void write_google_output(const GoogleOutput& output, const std::vector<RecordedCase>& cases);

}  // namespace convladder
