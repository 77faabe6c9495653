// The settings of a command as its record has them in `context.options`.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/measure/plan/options.hpp"
#include "support/json_place.hpp"

namespace convladder {

nlohmann::ordered_json options_json(const RunOptions& options);
nlohmann::ordered_json options_json(const NetworkOptions& options);
nlohmann::ordered_json options_json(const SweepOptions& options);
nlohmann::ordered_json options_json(const RankOptions& options);

/// Reads what `options_json` wrote. Throws UserError that names the field, for all that the command line would have
/// refused.
RunOptions read_run_options(const JsonPlace& json);
NetworkOptions read_network_options(const JsonPlace& json);
SweepOptions read_sweep_options(const JsonPlace& json);

}  // namespace convladder
