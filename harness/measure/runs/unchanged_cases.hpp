// Results of an earlier run of the same ladder for stages that have not changed since: a second run takes them over.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/measure/plan/plan.hpp"
#include "harness/measure/runs/run_record.hpp"

namespace convladder {

/// Adds to a new record the cases of the ladder's last run that were right and have not changed since: made of the
/// same, with the same settings, by the same build on the same machine. Returns where they come from, or an empty path,
/// and how many.
struct TakenOver {
  std::filesystem::path from;
  int cases = 0;
};
TakenOver take_over_unchanged(RunRecord& record, const std::vector<CaseGroup>& plan, const RunOptions& options);

/// From now on `record` is the ladder's last run.
void remember_run(const std::filesystem::path& record, const RunOptions& options);

}  // namespace convladder
