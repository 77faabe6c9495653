// Independent pieces of work on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace convladder {

/// Calls `work` once for every index below `count`, on as many threads as there are usable cores, and returns when all
/// calls are done. Rethrows the first exception of a call; calls that have not begun by then are skipped.
void on_all_cores(std::size_t count, const std::function<void(std::size_t index)>& work);

}  // namespace convladder
