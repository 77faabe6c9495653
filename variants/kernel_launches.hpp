// Turns a launch plan into a variant of a problem, and has the grids and the limits of launches.
//
// nvcc reads this file with every kernel, and each standard header several times: only a few are included.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "variants/accuracy.hpp"
#include "variants/problem_size.hpp"
#include "variants/problem_tensors.hpp"
#include "variants/registration.hpp"

namespace convladder {

/// Which kernels run, over which grid, with which arguments. It must be a pure function that does not touch a device.
/// The constants of `tensors` are on the device; if there is no device, all addresses are null.
using VariantLaunches = std::vector<KernelLaunch> (*)(const ProblemSize& size, const ProblemTensors& tensors);

/// Wraps a launch plan into a variant that copies the constants to the device in `prepare`, and lives as long as the
/// program. A size whose grid no GPU takes is refused with a reason, and so is one for which `unsupported` gives a
/// reason. `tolerance` is that of `Variant`.
const Variant& launch_variant(VariantLaunches launches, double tolerance = kFloat32Tolerance,
                              std::string (*unsupported)(const ProblemSize& size) = nullptr);

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

/// Threads of a block in the grids of `element_grid` and `item_grid`.
inline constexpr int kElementThreads = 256;

/// The grid with a thread for each of `elements` elements.
Dim3 element_grid(std::size_t elements);

/// The grid with a thread for each of the `elements` elements of each item, in which no block has elements of two
/// items, so that a kernel can count in 32 bits: item = blockIdx.x / blocks_per_item.
Dim3 item_grid(int items, std::size_t elements);
int blocks_per_item(std::size_t elements);

}  // namespace convladder
