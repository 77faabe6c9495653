// Why a stage is faster: everything that a record holds of each stage, put together. Predicted times on named GPUs with
// the resources that bound them, occupancy, the changes of counters against the stage below, and the error where a time
// was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/judge/explain/explained_steps.hpp"
#include "harness/measure/records/recorded_case.hpp"
#include "harness/measure/statistics/ratio.hpp"

namespace convladder {

/// A counter that differs from that of the stage below.
struct ExplainedChange {
  std::string title;  ///< "global load sectors"
  double ratio = 1;   ///< this stage's value divided by the other's
};

struct ExplainedStage {
  std::string variant;
  std::string title;                         ///< preceded by its rung
  std::string builds_on;                     ///< a variant, or empty
  std::vector<PredictedFigure> predictions;  ///< empty if it was not counted
  std::vector<ExplainedChange> changes;      ///< from the stage it builds on; the largest first
  std::optional<KnownFigure> measured;       ///< nanoseconds on a real GPU, in the same record
  std::string measured_of;                   ///< "op" or "layer"
  std::string why_not;                       ///< status and reason where there is no figure

  /// The prediction for that GPU; null if there is none.
  const PredictedFigure* prediction_on(const std::string& gpu) const;
};

/// Somebody else's published figure for a stage, and the prediction for the GPU it was most likely measured on.
struct ExplainedPublished {
  std::string source;   ///< "fa17-ladder"
  std::string stage;    ///< in the source's words
  std::string what;     ///< "op time", "kernel time"
  std::string gpu;      ///< "k80"
  std::string variant;  ///< our stage that it is compared with
  double ns = 0;        ///< for the batch of the group
  int batch = 0;        ///< as published; where it is not the group's, `ns` is scaled
  double low_ns = 0;
  double high_ns = 0;

  /// The geometric middle of the prediction, only for comparing stages with each other.
  double middle_ns() const;
};

/// The stages of one layer and batch.
struct ExplainedGroup {
  std::string network;
  std::string layer;
  int batch = 0;
  std::string real_gpu;  ///< the GPU whose measured times are shown; empty if there are none
  std::vector<ExplainedStage> stages;
  std::vector<ExplainedPublished> published;
};

/// Explains the cases whose id matches `filter` (a regular expression; empty: all). A case without a prediction but
/// with counters gets one. Throws UserError, in one line, for a filter that is not a regular expression.
std::vector<ExplainedGroup> explain_run(const ExplainedRun& run, const std::string& filter);

/// Pairs of published stages that the predictions' geometric middles put in another order: "block-remap,
/// shared-memory".
std::vector<std::string> order_differences(const std::vector<ExplainedPublished>& published);

}  // namespace convladder
