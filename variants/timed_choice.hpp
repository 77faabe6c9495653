// Times several ways of doing the same on a device, so that one of them can be chosen.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "devices/device.hpp"

namespace convladder {

/// The nanoseconds that one call of `run(0)` … `run(ways - 1)` takes by the device's clock: the median of several, with
/// warm caches. All ways take turns, in one order and then in reverse, after the device has warmed up and no longer
/// gets faster from turn to turn: a clock that rises meanwhile favours none of them. A way that takes several times as
/// long as the quickest is timed once. Each call is enqueued behind other work, so that its time does not include the
/// time that the host needs to enqueue it.
std::vector<double> times_of_ways(Device& device, std::size_t ways, const std::function<void(std::size_t)>& run);

}  // namespace convladder
