// The limits of a CUDA launch.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "devices/kernel_launch.hpp"

namespace convladder {

/// The limits of every GPU since compute capability 3.0 ("Technical Specifications per Compute Capability" in the CUDA
/// programming guide): blocks along x, blocks along y or z, threads per block, threads per warp, and the shared memory
/// a block gets without asking the driver for more.
inline constexpr unsigned max_grid_x = 2147483647;
inline constexpr unsigned max_grid_yz = 65535;
inline constexpr int max_threads_per_block = 1024;
inline constexpr int warp_threads = 32;
inline constexpr std::size_t max_shared_bytes = 48 * 1024;

inline int ceil_div(int dividend, int divisor) { return (dividend - 1) / divisor + 1; }

/// Empty if a GPU accepts the grid, otherwise the limit that it exceeds.
std::string grid_error(Dim3 grid);

/// "the input tile needs 65536 bytes of shared memory, a block has 49152": why a stage refuses a shape.
std::string shared_memory_error(std::string_view what, std::size_t bytes);

}  // namespace convladder
