// Turns a launch plan into a variant of a problem, and makes grids with a thread for each element.
//
// nvcc reads this file with every kernel, and each standard header several times: only a few are included.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "variants/float32.hpp"
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

/// Threads of a block in the grids of `element_grid` and `item_grid`.
inline constexpr int kElementThreads = 256;

/// The grid with a thread for each of `elements` elements.
Dim3 element_grid(std::size_t elements);

/// The grid with a thread for each of the `elements` elements of each item, in which no block has elements of two
/// items, so that a kernel can count in 32 bits: item = blockIdx.x / blocks_per_item.
Dim3 item_grid(int items, std::size_t elements);
int blocks_per_item(std::size_t elements);

}  // namespace convladder
