// The stand-in's observations of a program and of the processes that it started, and their report for people.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "harness/measure/simulation/program_run.hpp"
#include "simulator/stand_in/report/process_report.hpp"
#include "simulator/stand_in/settings.hpp"
#include "support/report.hpp"

namespace convladder {

/// Places of the program's calls in its source.
class HostPlaces {
 public:
  /// Looks the places up, unless they are known or too many others are: each costs a process of addr2line.
  void look_up(const stand_in::CallPlaces& places);
  /// The program's own place among them; nullptr if they were not looked up.
  const stand_in::HostPlace* find(const stand_in::CallPlaces& places) const;

 private:
  std::map<std::vector<stand_in::CallPlace>, stand_in::HostPlace> known_;
};

/// results/simulated_program.schema.json; all but the costs are the same in every run.
struct ProgramReport {
  std::vector<std::string> command;
  stand_in::Settings settings;
  ProgramEnd end;
  std::vector<std::string> remarks;                   ///< about the program as such, a line each
  std::vector<stand_in::ProcessReport> processes;     ///< by program and arguments; they made calls or have kernels
  std::vector<stand_in::ProcessName> without_report;  ///< processes that began and ended without a report
  HostPlaces hosts;

  /// The number of findings, or of notes, of all processes.
  std::size_t listed(simulated::Severity severity) const;
  /// Whether something went unseen in which findings may hide: a kernel that could not run, a runtime that could not be
  /// redirected, a call that a library did not do, a process that ended without a report.
  bool is_incomplete() const;
};

/// Whether a call that fails with this error would have launched a kernel, and there is nothing to run.
bool is_refused_kernel(const std::string& call, const std::string& error);

/// Reads the lines that the processes wrote, into a report of which everything else is known. Throws UserError for
/// lines that are no reports.
void read_processes(const std::string& lines, ProgramReport& report);

/// In the order and with the tables that people know from compute-sanitizer and nvprof.
Report program_report(const ProgramReport& program);

/// The time that simulating all blocks of the program would take on this machine, from a run of a sample of them.
Report program_estimate(const ProgramReport& program);

}  // namespace convladder
