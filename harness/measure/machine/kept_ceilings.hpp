// The highest rates that this machine has reached in any run of this user. On a machine that others keep busy, those of
// the run itself may be far lower.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace convladder {

/// In the limit's unit; none where no run has kept one, or no cache can be used.
std::optional<double> kept_ceiling(std::string_view device, std::string_view limit);
/// Keeps a rate, if it is higher than what is kept. Where nothing can be written, it is not kept.
void keep_ceiling(std::string_view device, std::string_view limit, double rate);

}  // namespace convladder
