// Options of the commands that take a file of kernels: its compiler, and the sizes of a launch.
#pragma once

#include <array>
#include <string>

#include "devices/device.hpp"
#include "harness/measure/simulation/cuda_source.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The shared memory of a block, static and dynamic, in bytes, on compute capability 9.0: "Technical Specifications per
/// Compute Capability" in the CUDA C++ programming guide.
inline constexpr int kMostSharedBytes = 227 * 1024;

/// --compiler and --compiler-flags
void add_compiler_options(CLI::App& command, CudaCompiler& compiler);

/// Parses "X[,Y[,Z]]". Throws UserError for a size outside of 1 to its limit.
Dim3 parse_dim(const char* option, const std::string& text, const std::array<int, 3>& limits);
/// The threads of a block, --block. Throws UserError also for more than a block can have.
Dim3 parse_block(const std::string& text);

}  // namespace convladder
