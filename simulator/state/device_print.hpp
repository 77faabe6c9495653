// printf of kernels (CUDA C++ programming guide, 10.35), and texts in a kernel's memory.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/state/operation.hpp"

namespace convladder::simulated {

/// The text, up to its zero, at a generic address; "(not a text)" if there is none.
std::string device_text(const WarpState& warp, int lane, std::uint64_t address);

/// The output of printf for the format and the list of arguments at these addresses; `values` becomes their number.
std::string printed_text(const WarpState& warp, int lane, std::uint64_t format, std::uint64_t list, int& values);

}  // namespace convladder::simulated
