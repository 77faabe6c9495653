// The stand-in's observations of a program and of the processes that it started: as one JSON document, and as text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/measure/simulation/program_run.hpp"
#include "simulator/stand_in/settings.hpp"

namespace convladder {

/// Figures of this run on this machine, which the next run will not repeat.
struct SimulationCost {
  double seconds = 0;         ///< of all processes with kernels, together
  double kernel_seconds = 0;  ///< the part of `seconds` spent in kernels
  std::uint64_t most_resident_bytes = 0;
};

struct ProgramReport {
  nlohmann::ordered_json document;  ///< results/simulated_program.schema.json; the same in every run
  SimulationCost cost;

  std::size_t findings() const;
  /// Processes that made calls, or have kernels.
  std::size_t processes() const;
  /// Whether something went unseen in which findings may hide: a kernel that could not run, a process that ended
  /// without a report.
  bool is_incomplete() const;
};

/// Makes a report from the lines that the processes wrote. `remarks` are about the program as such, a line each. Throws
/// UserError for lines that are no reports.
ProgramReport read_program_report(const std::string& lines, const std::vector<std::string>& words,
                                  const stand_in::Settings& settings, const ProgramEnd& end,
                                  const std::vector<std::string>& remarks);

}  // namespace convladder
