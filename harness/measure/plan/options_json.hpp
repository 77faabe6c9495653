// The settings of a command as its record has them in `context.options`, and sizes and launch dimensions as lists of
// their numbers.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "devices/device.hpp"
#include "harness/measure/plan/options.hpp"
#include "support/json_place.hpp"
#include "variants/problem.hpp"

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

/// A launch dimension as [x, y, z].
nlohmann::ordered_json dim_json(const Dim3& dim);

/// Reads [x, y, z]. Throws UserError.
Dim3 read_dim(const JsonPlace& place);

/// A size as a list of batch and values.
nlohmann::ordered_json size_to_list(const ProblemSize& size);

/// Reads a list written by `size_to_list`. Throws UserError; whether the size is possible is not checked.
ProblemSize read_size(const Problem& problem, const JsonPlace& list);

}  // namespace convladder
