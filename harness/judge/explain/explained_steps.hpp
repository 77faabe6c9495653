// The steps of a record that are printed, and their report: a sentence or two for each stage.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/records/record_context.hpp"
#include "harness/measure/runs/steps.hpp"
#include "support/reasons.hpp"
#include "support/report.hpp"

namespace convladder {

/// A ladder's steps with the facts printed around them.
struct ExplainedLadder {
  LadderSteps ladder;
  std::optional<double> floor_operations_ns;  ///< none without a floor
  std::optional<double> floor_bytes_ns;       ///< none as well where its data fits into the cache
  std::string best;                           ///< the stage at which a short text ends; empty: it has all stages
  // Only where it was chosen to be explained:
  bool measured = false;
  std::string gpu;            ///< the one whose predictions are mentioned; empty where there are none
  std::size_t timed = 0;      ///< stages with a result, shown or not
  std::size_t not_quiet = 0;  ///< stages that were measured on a machine that was busy
  Reasons missing;            ///< stages without a result, by reason
};

/// A run whose stages are explained. Its ladders point into its cases, so it is moved and never copied.
struct ExplainedRun {
  RecordContext context;
  std::vector<RecordedCase> cases;
  std::vector<RecordedVariant> variants;
  std::vector<ExplainedLadder> ladders;
  std::string gpu;  ///< the one whose predictions are described

  /// The ladders of the named layers ("lenet72.conv1"; empty: the one of which most is known), for each family at the
  /// batch of which most is known; with a `filter` (a regular expression) every ladder with a case whose id matches.
  /// Throws UserError for a layer that the record lacks.
  std::vector<ExplainedLadder> chosen(const std::vector<std::string>& layers, const std::string& filter) const;
};

/// Keeps only the stages on the way to the best one, along `builds_on`, where that is known; the others are only named.
void keep_way_to_best(std::vector<ExplainedLadder>& ladders);

/// A section for each ladder, with its steps.
Report steps_report(const std::vector<ExplainedLadder>& ladders);

}  // namespace convladder
