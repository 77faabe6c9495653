// Everything that follows from the cases of one layer, batch and device: the stages side by side, their summary, and
// each step in words. Derived once, when the last case is there.
#pragma once

#include <optional>
#include <vector>

#include "harness/measure/runs/ladder.hpp"
#include "harness/measure/runs/ladder_summary.hpp"
#include "harness/measure/runs/leave_one_out.hpp"
#include "harness/measure/runs/steps.hpp"

namespace convladder {

/// One of `ladders` of a record.
struct DerivedLadder {
  const RecordedCase* of = nullptr;  ///< a case of its place
  const char* kind = "";             ///< "measured", "predicted", or "counted" where nothing has a time
  std::optional<Floor> floor = {};
  std::vector<LadderRow> rows = {};  ///< none where all stages were only counted
  std::optional<LadderSummary> summary = {};
  std::vector<Step> steps = {};
  std::optional<int> kind_of_machine = {};  ///< in a record that was merged of several kinds of machines
};

/// The ladders that follow from the cases, which must outlive them.
std::vector<DerivedLadder> derived_ladders(const std::vector<RecordedCase>& cases,
                                           const std::vector<RecordedVariant>& variants, const Ceilings& ceilings);

}  // namespace convladder
