// The ladders of a record: the stages of one layer, batch and device beside each other, with their ratios.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cases/floor.hpp"
#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/records/time_ratio.hpp"

namespace convladder {

/// A case on its ladder. All times and ratios are of layer times, NCHW in to NCHW out; none where one is missing.
struct LadderRow {
  const RecordedCase* of = nullptr;
  std::string title;                        ///< of its variant
  std::string builds_on;                    ///< a variant, or empty
  const TimeFigure* time = nullptr;         ///< its layer time
  std::optional<double> gflop_per_s;        ///< by its layer time
  std::optional<Ratio> x_previous;          ///< speedup over the stage it builds on
  std::optional<Ratio> x_baseline;          ///< speedup over the lowest rung
  std::optional<Ratio> percent_of_library;  ///< of the speed of the fastest library
  std::optional<Ratio> percent_of_floor;
  std::optional<CaseRoofline> roofline;
};

struct Ladder {
  std::optional<Floor> floor;
  std::vector<LadderRow> rows;  ///< at least one, in the order of the variants; all of the same place
};

/// The ladders, from the cases, variants and `ceilings` of a record and nothing else. The cases must outlive the
/// ladders.
std::vector<Ladder> ladders_of(const std::vector<RecordedCase>& cases, const std::vector<RecordedVariant>& variants,
                               const Ceilings& ceilings);

/// "predicted" where the ladder's times are a virtual clock's, otherwise "measured".
const char* kind_of(const Ladder& ladder);

}  // namespace convladder
