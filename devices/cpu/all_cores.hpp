// Independent pieces of work on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace convladder {

/// Calls `work` once for every index below `count`, on as many threads as there are usable cores. Returns when all are
/// done; what a piece throws first is thrown then, and pieces that have not begun by that time do not.
void on_all_cores(std::size_t count, const std::function<void(std::size_t index)>& work);

}  // namespace convladder
