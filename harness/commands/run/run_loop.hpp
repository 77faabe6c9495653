// Runs all cases of a plan, group by group, into a record.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/runs/run_record.hpp"

namespace convladder {

/// The largest batch of the plan; at least 1.
int largest_batch_of(const std::vector<CaseGroup>& plan);

struct RunProgress {
  bool verbose = false;        ///< a line for each case
  std::FILE* lines = nullptr;  ///< where the lines go; null: nowhere
};

/// Runs the cases that the record lacks, and completes it. `sentinels` are groups of one case each, on a device with a
/// clock, that run before and after the others where these are measured. Returns notes on the machine.
std::vector<std::string> run_groups(const std::vector<CaseGroup>& plan, const ImageSet& images,
                                    const RunOptions& options, const RunProgress& progress, RunRecord& record,
                                    const std::vector<CaseGroup>& sentinels = {});

}  // namespace convladder
