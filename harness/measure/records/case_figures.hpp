// The typed cases and variants of a record, from which other figures are derived. JSON is read here once.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "harness/measure/records/recorded_run.hpp"
#include "simulator/gpus/time_model.hpp"
#include "support/json_place.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

/// A predicted time on a named GPU. Its texts hold no control characters.
struct PredictedFigure {
  std::string gpu;                ///< "h100"
  std::optional<double> low_ns;   ///< none if it cannot be launched there
  std::optional<double> high_ns;  ///< none if it cannot be launched there
  std::string binding_low;        ///< "load/store unit"
  std::string binding_high;
  double occupancy = 0;                   ///< of the kernel with the least
  std::string limited_by;                 ///< "registers, shared memory"
  std::size_t launches = 0;               ///< kernels of a call, one after the other
  std::array<Range, kTimeTerms> terms{};  ///< ns of each term, over all kernels; 0 if it cannot be launched there

  bool runs() const { return low_ns && high_ns; }
  /// The geometric mean of both ends, in ns: only for comparing predictions with each other. For one that runs.
  double middle_ns() const;
};

/// Reads one of `prediction.gpus`. Throws UserError.
PredictedFigure read_prediction(const JsonPlace& place);

/// A case, and the values from which its other figures follow.
struct CaseFigures : RecordedCase {
  std::string family;
  std::optional<ProblemSize> size;  ///< none for a problem that this program does not have
  double flop = 0;
  double minimum_bytes = 0;
  double tolerance = 0;  ///< the error tolerance of its verification; fp32's where it was not verified
  double blocks = 0;     ///< in its largest counted launch; 0 if nothing was counted
  std::vector<TimeFigure> other_times;
  std::vector<PredictedFigure> predictions;

  /// The place on which the case can be compared: device, family, network, layer, batch.
  auto place() const { return std::tie(device, family, network, layer, batch); }
};

/// scale * numerator / denominator; none if one of them is missing, or the denominator is not above 0.
std::optional<double> ratio(std::optional<double> numerator, std::optional<double> denominator, double scale = 1);

/// {"device", "family", "network", "layer", "batch"}: the first fields of everything that is derived from cases in one
/// place.
nlohmann::ordered_json place_json(const CaseFigures& one_case);

/// The fields of a recorded variant on which figures depend.
struct VariantFigures {
  std::string family;
  std::string name;
  std::string builds_on;  ///< empty for the first of a ladder and for libraries
  bool leaves_out = false;
  std::string title;
  std::optional<int> rung;
  std::string hypothesis = {};
};

/// Reads `cases` and `variants` of a record. Throws UserError for anything that this program does not write.
std::vector<CaseFigures> case_figures(const JsonPlace& cases);
std::vector<VariantFigures> variant_figures(const JsonPlace& variants);

}  // namespace convladder
