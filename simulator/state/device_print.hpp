// printf of kernels (CUDA C++ programming guide, 10.35), and the texts that kernels point to.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/state/operation.hpp"

namespace convladder::simulated {

/// The text, up to its zero, that a generic address points to; "(not a text)" where it does not.
std::string device_text(const WarpState& warp, int lane, std::uint64_t address);

/// What printf writes for the format and the list of arguments at these addresses; `values` becomes their number.
std::string printed_text(const WarpState& warp, int lane, std::uint64_t format, std::uint64_t list, int& values);

}  // namespace convladder::simulated
