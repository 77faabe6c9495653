// What identifies the PTX that a case ran: counters are a matter of the PTX, not of the source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "devices/ptx_images.hpp"

namespace convladder {

/// The lines of a PTX file that say what runs: without comments, blank lines and positions in the source (`.loc`,
/// `.file`), which change with the folder of the build and with every comment in the source.
std::string ptx_without_positions(std::string_view ptx);

/// SHA-256, as 64 hex digits, of the files that hold the plan's kernels, without positions. Empty if that compiler
/// made PTX of none of them.
std::string ptx_sha256(const PtxImages& images, const std::vector<KernelLaunch>& plan);

}  // namespace convladder
