// Reads what `ptxas -v` prints: registers, shared memory, stack and spills per kernel and architecture.
#pragma once

#include <stdexcept>
#include <string_view>
#include <vector>

#include "devices/kernel_resources.hpp"

namespace convladder {

/// The text is not a report of ptxas, or one of an unknown kind.
struct PtxasReportError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The kernels of a report in its order; other lines are skipped. A report may hold several runs of ptxas.
///
/// Per kernel it reads "Compiling entry function '<name>' for '<sm>'", the line of stack frame and spills, and
/// "Used N registers, used N barriers, N bytes smem, N bytes cmem[b], …", whose parts may be missing (then 0) and may
/// be of older forms ("8+0 bytes smem"). `constant_bytes` is the sum over the banks.
/// Throws PtxasReportError if a kernel has no line of registers, or a number is out of range.
std::vector<KernelResources> parse_ptxas_report(std::string_view text);

}  // namespace convladder
