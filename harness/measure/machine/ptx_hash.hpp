// Identifies the PTX that a case ran. Counters depend on the PTX, not on the source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "devices/ptx_images.hpp"

namespace convladder {

/// The lines of a PTX file that decide what runs: without comments, blank lines, positions in the source (`.loc`,
/// `.file`) and debug sections, all of which change with the folder of the build or with a comment in the source.
std::string executed_ptx(std::string_view ptx);

/// SHA-256, as 64 hex digits, of the executed PTX of the files that hold the plan's kernels. Empty if that compiler
/// made PTX from none of them.
std::string ptx_sha256(const PtxImages& images, const std::vector<KernelLaunch>& plan);

/// The PTX that one compiler has made for this build.
struct CompiledPtx {
  std::string compiler;
  std::string version;
  std::string sha256;  ///< of all sources' names and executed PTX
};

/// One for each compiler of this build, starting with the one whose PTX runs first.
std::vector<CompiledPtx> compiled_ptx();

}  // namespace convladder
