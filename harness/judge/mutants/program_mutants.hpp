// Mutants of the kernels that a program launches, with the program as the test.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/judge/mutants/tried_mutant.hpp"
#include "harness/measure/simulation/program_file.hpp"
#include "simulator/stand_in/settings.hpp"
#include "support/text_pattern.hpp"

namespace convladder {

/// How a program says that it has failed, besides its exit code.
struct OutputRules {
  std::string accepts;  ///< a regular expression: it has passed only if a line of its output matches; empty: none
  std::string rejects;  ///< it has failed if a line matches
};

class ProgramTest {
 public:
  /// `settings` are those of all runs, without mutants. Throws UserError if the stand-in cannot take the runtime's
  /// place.
  ProgramTest(std::vector<std::string> words, stand_in::Settings settings, const OutputRules& rules);

  /// Runs the program as it is, twice: the mutants that its kernels could have. Throws UserError if it fails, or if it
  /// launches nothing.
  std::map<std::string, std::vector<simulated::PossibleMutant>> run_as_it_is();
  /// Runs it with a mutant.
  void run(TriedMutant& one, const MutantSettings& settings) const;

  /// Whether its own runs have changed files in the current folder: several at a time would change each other's.
  bool writes_files() const { return writes_files_; }
  /// A hash of the files that its words name, and of what decides whether it has passed.
  std::string material() const;

 private:
  struct Run {
    std::string failure;                       ///< why the test has failed: "exit code 1"; empty: it has passed
    std::vector<simulated::MutantsSeen> seen;  ///< by its processes
    double seconds = 0;
    bool is_killed = false;  ///< from outside, as the system does where memory runs out
  };
  Run run(const simulated::MutantsWanted& wanted, double timeout_seconds) const;
  std::string failure_in(const std::string& output) const;

  std::vector<std::string> words_;
  ProgramFile file_;
  stand_in::Settings settings_;
  OutputRules rules_;
  TextPattern accepts_;
  TextPattern rejects_;
  double seconds_ = 0;
  bool writes_files_ = false;
  std::vector<std::string> host_reads_;  ///< of its processes, without any mutant; none if they differ from run to run
};

}  // namespace convladder
