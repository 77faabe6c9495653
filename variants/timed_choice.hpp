// How long each of several ways of doing the same takes on a device, so that one of them can be chosen.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// The nanoseconds that one call of `run(0)` … `run(ways - 1)` takes by the device's clock: the median of several,
/// caches warm. All ways take turns, there and back, after the device has warmed up and no longer gets faster from turn
/// to turn: a clock that rises meanwhile favours none of them. A way that takes several times as long as the quickest
/// is timed once. Each call is enqueued behind other work, so that what the host needs to enqueue it is not in its
/// time.
std::vector<double> times_of_ways(Device& device, std::size_t ways, const std::function<void(std::size_t)>& run);

}  // namespace convladder
