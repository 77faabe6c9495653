// A CUDA operator is its kernels and a launch plan; this makes them a registered operator.
//
// nvcc reads this with every kernel, and each standard header several times: few are included.
#pragma once

#include <cstddef>
#include <vector>

#include "devices/kernel_launch.hpp"
#include "variants/operator_registration.hpp"
#include "variants/operator_shape.hpp"

namespace convladder {

/// Which kernels run, over which grid, with which arguments. A pure function: it must not touch a device.
using OperatorLaunchPlan = std::vector<KernelLaunch> (*)(const OperatorShape& shape, const OperatorTensors& tensors);

/// Wraps a launch plan, for as long as the program lives; `tolerance` as in `LayerOperator`. A shape whose grid no GPU
/// takes is refused with a reason.
const LayerOperator& cuda_operator(OperatorLaunchPlan plan, double tolerance = 0);

/// Threads of a block in the grids below.
inline constexpr int kElementThreads = 256;

/// The grid with a thread for each of `elements`.
Dim3 element_grid(std::size_t elements);

/// The grid with a thread for each of an image's `elements` where no block has elements of two images, so that a
/// kernel counts in 32 bits: image = blockIdx.x / blocks_per_image.
Dim3 image_grid(int batch, std::size_t elements);
int blocks_per_image(std::size_t elements);

}  // namespace convladder
