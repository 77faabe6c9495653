// The tables of a run: every ladder where few were run, otherwise a summary of them.
#pragma once

#include <vector>

#include "harness/measure/runs/ladder.hpp"
#include "harness/measure/runs/ladder_summary.hpp"
#include "harness/measure/runs/ladder_text.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "support/report.hpp"

namespace convladder {

struct RunTables {
  bool all = false;        ///< every ladder, however many there are
  bool intervals = false;  ///< ratios as intervals
  ArrangeCases arrange_counted = {};
};

/// The tables of these ladders of the run.
Report run_report(const RunFigures& run, const std::vector<Ladder>& ladders, const std::vector<CountedLadder>& counted,
                  const RunTables& wanted);

}  // namespace convladder
