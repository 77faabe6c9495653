// A duel between any two programs: commands that are run once for each slot, or workers that stay. docs/use/duel.md
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/judge/duel/duel.hpp"
#include "harness/judge/duel/duel_output.hpp"
#include "harness/judge/duel/programs/told_figures.hpp"

namespace convladder {

/// One side: a command, and where it runs.
struct ProgramSide {
  std::string command;                 ///< with "{}" for the case, and "{json}" for a file that it writes
  std::string folder;                  ///< empty: the current one
  std::vector<std::string> variables;  ///< of its environment beside this program's: "NAME=value"
};

struct ProgramCase {
  std::string name;
  std::string argument;  ///< what "{}" stands for
};

struct ProgramDuelOptions {
  ProgramSide base;
  ProgramSide now;
  std::vector<ProgramCase> cases;    ///< empty: one case, without a name
  std::vector<std::string> of_base;  ///< names of cases that only the base has
  std::vector<std::string> of_new;   ///< and only the new side
  std::vector<MetricWish> metrics;   ///< empty: wall time, or all times of the file "{json}"
  bool is_worker = false;
  std::string check;         ///< a command with {base} and {new}, files of what both sides have printed
  bool same_output = false;  ///< what both sides print has to be the same
  std::string setup;         ///< run once for each side and case, before it
  std::string teardown;      ///< and after everything
  int warmup = 1;            ///< runs of each side before its first slot
  double timeout_seconds = 60;
};

/// Whether both sides are the same program, byte for byte, with the same arguments, folder and environment, so that
/// there is nothing to measure: why, in words; empty if that is not known.
std::string why_the_same(const ProgramDuelOptions& options);

/// A side for the report.
SideFacts side_facts(const ProgramSide& side);

/// Plans the duel. Where the metrics are the times of a file, each case is run once on both sides, to see which there
/// are; a side that fails there settles its pairs as failed. Both arguments have to live as long as the plan. Throws
/// UserError for commands that no process can be started with.
DuelPlan program_duel(const ProgramDuelOptions& options, const DuelSettings& settings);

}  // namespace convladder
