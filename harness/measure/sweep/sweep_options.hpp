// The settings of a parameter sweep.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/measure/plan/options.hpp"

namespace convladder {

inline constexpr int kMostConfigurations = 10'000;

struct SweepOptions {
  RunOptions run;             ///< which cases there are, and how they are measured
  std::string configuration;  ///< only configurations that agree with this one; empty: all
  int limit = 24;             ///< configurations of a variant on a layer
  std::string gpu;            ///< the GPU for which a device without a clock predicts; empty: it counts
  bool update_table = false;
  std::string tables = "variants/tuning";
};

/// To and from `context.options` of the record, as options_to_json and options_from_json.
nlohmann::ordered_json to_json(const SweepOptions& options);
SweepOptions sweep_options_from_json(const JsonPlace& json);

}  // namespace convladder
