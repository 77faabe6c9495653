// When a simulated kernel is ended early, as typed on the command line, and the progress that is shown until then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/execution/launch_limits.hpp"

namespace convladder {

/// The limits that --limit sets.
struct LimitValues {
  std::optional<double> seconds;
  std::uint64_t operations = 0;                 ///< by all warps; 0: no limit
  std::uint64_t operations_without_change = 0;  ///< by the warps of a block that changes no memory; 0: no limit
};

/// Parses the values of --limit as `launch_limits` does, without showing progress.
LimitValues parse_limits(const std::vector<std::string>& values);

/// The limits for the values of --limit: "10G" or "2000" instructions of warps (k, M, G, T), "30s", "5min", "2h", or
/// "none" alone. Without any: ten minutes, and 5 G instructions of a block that change no memory. Throws UserError. On
/// a terminal, `what` is shown as the launch's progress once it takes longer than two seconds.
simulated::LaunchLimits launch_limits(const std::vector<std::string>& values, const std::string& what);

}  // namespace convladder
