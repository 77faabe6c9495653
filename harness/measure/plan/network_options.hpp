// The settings of a run of whole networks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/plan/options.hpp"
#include "support/json_place.hpp"

namespace convladder {

inline constexpr int kLargestNetworkBatch = 1'000'000;

/// `networks` names at least one. A variant is "shared-memory", "conv1=…,conv2=…" or "all"; without one each layer gets
/// what suits it. `budget_seconds` is of passes, `repetitions` counts passes, and `timeout_seconds` is of one pass.
struct NetworkOptions : MeasuringOptions {
  NetworkOptions() { budget_seconds = 2.0; }

  // Which cases.
  std::vector<std::string> operators;  ///< "fully_connected=cublas": instead of the family's default
  bool all = false;                    ///< every stage, fused ones too, and every batch that can be run in time

  // On what.
  std::string weights = "high";  ///< "high", "low" or "random", or a safetensors file
  int skip_images = 0;           ///< leave out the first ones, for example those that the weights were trained on

  // How.
  std::optional<int> chunk;  ///< images at once; none: as many as fit the memory
  bool overlap = false;      ///< copies beside computing, in chunks
};

/// To and from `context.options` of the record. `network_options_from_json` throws UserError that names the field, for
/// all that the command line would have refused.
nlohmann::ordered_json to_json(const NetworkOptions& options);
NetworkOptions network_options_from_json(const JsonPlace& json);

}  // namespace convladder
