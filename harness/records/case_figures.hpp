// What other figures are derived from: the cases and variants of a record, typed. JSON is read here once.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "harness/cases/counters.hpp"
#include "harness/isolation/status.hpp"
#include "harness/machine/quality.hpp"
#include "support/json_place.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

/// One kind of time of a case, in nanoseconds.
struct TimeFigure {
  std::string of;     ///< time_of::…
  std::string cache;  ///< "hot", "cold", or empty
  double median = 0;
  std::optional<double> low;  ///< of the median's interval, with `high`
  std::optional<double> high;
  std::vector<double> samples;
  int iterations = 1;  ///< calls of each sample
};

/// A predicted time on a named GPU. Its texts hold no control characters.
struct PredictedFigure {
  std::string gpu;                ///< "h100"
  std::optional<double> low_ns;   ///< none if it cannot be launched there
  std::optional<double> high_ns;  ///< likewise
  std::string binding_low;        ///< "load/store unit"
  std::string binding_high;
  double occupancy = 0;    ///< of the kernel with the least
  std::string limited_by;  ///< "registers, shared memory"

  bool runs() const { return low_ns && high_ns; }
  /// Geometric: only for comparing predictions with each other. Of one that runs.
  double middle_ns() const;
};

/// One of `prediction.gpus`. Throws UserError.
PredictedFigure read_prediction(const JsonPlace& place);

struct CaseFigures {
  std::string id;
  std::string variant;
  std::string family;
  std::string device;
  std::string network;
  std::string layer;
  int batch = 0;
  std::optional<int> rung;  ///< none: a library, or a stage without an idea
  std::string leaves_out;   ///< which idea; empty for all others
  Status status = Status::ok;
  std::string reason;
  std::optional<Quality> quality;
  std::optional<ProblemSize> shape;
  double flop = 0;
  double minimum_bytes = 0;
  double tolerance = 0;  ///< of the error that its verification allows; fp32's where it was not verified
  std::optional<TimeFigure> time;
  std::vector<TimeFigure> other_times;
  std::optional<CountedFigures> counters;
  std::vector<PredictedFigure> predictions;  ///< computed where there are counters and no prediction

  /// What it can be compared on: device, family, network, layer, batch.
  auto place() const { return std::tie(device, family, network, layer, batch); }
};

/// {"device", "family", "network", "layer", "batch"}: the beginning of what is derived of cases in one place.
nlohmann::ordered_json place_json(const CaseFigures& one_case);

/// What a variant of the record says of itself, as far as figures depend on it.
struct VariantFigures {
  std::string family;
  std::string name;
  std::string builds_on;  ///< empty for the first of a ladder and for libraries
  bool leaves_out = false;
  std::string title;
  std::optional<int> rung;
};

/// `cases` and `variants` of a record. Throws UserError for what this program does not write.
std::vector<CaseFigures> case_figures(const JsonPlace& cases);
std::vector<VariantFigures> variant_figures(const JsonPlace& variants);

}  // namespace convladder
