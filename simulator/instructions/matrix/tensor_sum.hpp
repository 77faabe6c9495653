// Sums of products as tensor cores make them.
//
// NVIDIA does not document it. Measured were (M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, "Numerical behavior of
// NVIDIA tensor cores", PeerJ Computer Science 7:e330, 2021; F. Khattak, M. Mikaitis, "Accurate models of NVIDIA tensor
// cores", arXiv:2512.07004, 2025, whose models give the same bits as the GPUs on random input):
// - Some products, and the sum so far, are added at once: A100 4 of tf32 and 8 of 16 bits; H100 8, 16, and 32 of fp8.
// - Products are exact. All are shifted to the largest exponent among them and the sum so far; a product's exponent is
//   the sum of its factors', whether or not its fraction reaches 2. What is then below bit 2^-23 of that exponent is
//   cut off, but for one more bit on an A100 and two on an H100; of fp8 an H100 keeps 13 bits behind the point.
// - What is left is added exactly, and the result is rounded toward zero to float32, or to nearest to half precision.
#pragma once

#include "simulator/instructions/matrix/matrix_fragment.hpp"
#include "simulator/state/tensor_cores.hpp"

namespace convladder::simulated {

/// What is multiplied, and by whose tensor cores. Not TensorCores::rounding; of fp8, which an A100 has not, always as
/// an H100.
struct TensorSum {
  TensorCores cores;
  ElementType left;
  ElementType right;
  ElementType sum;
};

/// sum + left[0] right[0] + ... of `count` products, `count` up to 64, in groups in ascending order. Infinite and NaN
/// where one of them is, or the result is too large.
float tensor_sum(const TensorSum& how, float sum, const float* left, const float* right, int count);

}  // namespace convladder::simulated
