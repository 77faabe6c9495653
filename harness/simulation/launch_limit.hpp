// When a simulated kernel is ended before its end, as typed on the command line, and the progress that is shown until
// then.
#pragma once

#include <string>
#include <vector>

#include "devices/simulated/execution/launch_limits.hpp"

namespace convladder {

/// The values of --limit: "10G" or "2000" instructions of warps (k, M, G, T), "30s", "5min", "2h", or "none" alone.
/// Without any: ten minutes, and 5 G instructions of a block that change no memory. Throws UserError. On a terminal,
/// `what` is shown as the launch's progress once it takes longer than two seconds.
simulated::LaunchLimits launch_limits(const std::vector<std::string>& values, const std::string& what);

}  // namespace convladder
