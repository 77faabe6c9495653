// The ladders of a record: the stages of one layer, batch and device beside each other, with their ratios.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/cases/floor.hpp"
#include "harness/measure/records/recorded_case.hpp"

namespace convladder {

/// A case on its ladder. Ratios are of layer times; none where the other time is missing.
struct LadderRow {
  const RecordedCase* of = nullptr;
  std::string title;                            ///< of its variant
  std::string builds_on;                        ///< a variant, or empty
  std::optional<double> gflop_per_s;            ///< by its own time
  std::optional<double> layer_median;           ///< NCHW in to NCHW out, in nanoseconds
  std::optional<double> x_previous;             ///< times faster than the stage it builds on
  std::optional<double> x_baseline;             ///< times faster than the lowest rung
  std::optional<double> percent_of_library;     ///< by the fastest library's time
  std::optional<double> percent_of_library_op;  ///< by the library's op time in its own layout
  std::optional<double> percent_of_floor;
  std::optional<CaseRoofline> roofline;
};

struct Ladder {
  std::optional<Floor> floor;
  std::vector<LadderRow> rows;  ///< at least one, in the order of the variants; all of the same place
};

/// The case's time from NCHW in to NCHW out: its own, or the one beside its op time. Null where it has none.
const TimeFigure* layer_time(const RecordedCase& one_case);
std::optional<double> layer_median(const RecordedCase& one_case);
/// Whether the intervals of two layer times overlap, so that the measurement cannot tell which is faster; none where
/// one has no interval.
std::optional<bool> intervals_overlap(const RecordedCase& one, const RecordedCase& other);

/// The ladders, from the cases, variants and `ceilings` of a record and nothing else. The cases must outlive the
/// ladders.
std::vector<Ladder> ladders_of(const std::vector<RecordedCase>& cases, const std::vector<RecordedVariant>& variants,
                               const Ceilings& ceilings);

/// "predicted" where the ladder's times are a virtual clock's, otherwise "measured".
const char* kind_of(const Ladder& ladder);

}  // namespace convladder
