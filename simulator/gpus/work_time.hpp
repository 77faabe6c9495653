// The time that work of known size would take on a named GPU, as a range: predicted from its operations and bytes,
// where no kernel is there to be counted. A roofline (Williams, Waterman and Patterson 2009); docs/use/prediction.md
// says what each end assumes.
#pragma once

#include "simulator/gpus/gpu_facts.hpp"

namespace convladder {

/// Work of a library's call.
struct WorkAmount {
  double fp32 = 0;         ///< operations: additions and multiplications
  double fp64 = 0;         ///< as `fp32`
  double tensor_tf32 = 0;  ///< as `fp32`, on tensor cores
  double tensor_half = 0;  ///< as `tensor_tf32`, with factors in half precision or bfloat16
  double bytes = 0;        ///< read from and written to memory, each operand once
  double steps = 1;        ///< kernels that have to wait for each other
};

Range predict_work(const GpuFacts& gpu, const WorkAmount& work);

}  // namespace convladder
