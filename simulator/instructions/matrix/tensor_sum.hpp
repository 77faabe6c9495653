// Sums of products computed as tensor cores do.
//
// NVIDIA does not document the arithmetic. It was measured by M. Fasi, N. Higham, M. Mikaitis, S. Pranesh,
// "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330, 2021, and F. Khattak, M. Mikaitis,
// "Accurate models of NVIDIA tensor cores", arXiv:2512.07004, 2025, whose models give the same bits as the GPUs on
// random input:
// - Several products, and the sum so far, are added at once: A100 4 of tf32 and 8 of 16 bits; H100 8, 16, and 32 of
//   fp8.
// - Products are exact. All are shifted to the largest exponent among them and the sum so far; a product's exponent is
//   the sum of its factors', whether or not its fraction reaches 2. Bits below 2^-23 of that exponent are cut off,
//   except for one more bit on an A100 and two on an H100; for fp8 an H100 keeps 13 bits after the point.
// - The remaining parts are added exactly, and the result is rounded toward zero to float32, or to nearest to half
//   precision.
#pragma once

#include "simulator/instructions/matrix/matrix_fragment.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

/// The type of the factors and the GPU whose tensor cores multiply them (not TensorCores::rounding). fp8, which an A100
/// does not have, is always summed as on an H100.
struct TensorSum {
  TensorCores cores;
  ElementType left;
  ElementType right;
  ElementType sum;
};

/// sum + left[0] right[0] + ... of `count` products, `count` up to 64, in groups in ascending order. Infinite or NaN
/// where a term is, infinite where the result is too large.
float tensor_sum(const TensorSum& how, float sum, const float* left, const float* right, int count);

}  // namespace convladder::simulated
