// The value of each idea of a stage: the stage beside variants without one of its ideas.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/statistics/ratio.hpp"
#include "support/report.hpp"

namespace convladder {

/// A stage, or the same without an idea. Figures are those of the case, per multiply-add of the layer; `x_...` is this
/// row's over the stage's. None where there is no figure.
struct LeftOutRow {
  const RecordedCase* of = nullptr;
  std::optional<double> instructions;       ///< by threads, per multiply-add
  std::optional<double> shared_wavefronts;  ///< per 32 multiply-adds
  std::optional<double> load_sectors;       ///< per 32 multiply-adds
  std::optional<double> dram_over_minimum;
  std::optional<PredictedFigure> predicted;
  std::optional<Ratio> x_instructions;
  std::optional<Ratio> x_predicted;
  std::optional<Ratio> x_time;
};

/// The rows of a layer, batch and device on which a case with `leaves_out` was run.
struct LeaveOneOut {
  std::string best;              ///< the stage that the others build on
  bool counted = false;          ///< the device counted; otherwise it timed
  std::vector<LeftOutRow> rows;  ///< the stage first, then the ideas, in the order of the variants
};

/// The views of a record. The cases must outlive the result.
std::vector<LeaveOneOut> leave_one_out_of(const std::vector<RecordedCase>& cases,
                                          const std::vector<RecordedVariant>& variants);

/// The views as tables, the dearest idea first; empty if there are none.
Report leave_one_out_report(const std::vector<LeaveOneOut>& views);

}  // namespace convladder
