// Stage 1: a thread for each row of each item.
#include "variants/kernel_launches.hpp"
#include "variants/launch_variant.hpp"

namespace convladder {

__global__ void matrix_vector_rows(int rows, int columns, const float* matrix, const float* input, float* output) {
  const int row = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  if (row >= rows) return;
  const float* const x = input + static_cast<long long>(blockIdx.x) * columns;
  float sum = 0;
  for (int column = 0; column < columns; ++column) {
    sum += matrix[static_cast<long long>(row) * columns + column] * x[column];
  }
  output[static_cast<long long>(blockIdx.x) * rows + row] = sum;
}

namespace {

std::vector<KernelLaunch> plan(const ProblemSize& size, const ProblemTensors& tensors) {
  constexpr int threads = 32;
  const int rows = size.at("R");
  const Dim3 grid{static_cast<unsigned>(size.batch), static_cast<unsigned>(ceil_div(rows, threads)), 1};
  return {make_launch(matrix_vector_rows, grid, Dim3{threads, 1, 1}, 0, rows, size.at("C"), tensors.constant(),
                      tensors.input(), tensors.output())};
}

const VariantRegistration registration("matrix-vector",
                                       {.family = "cuda",
                                        .rung = 1,
                                        .name = "rows",
                                        .title = "Rows",
                                        .builds_on = "",
                                        .hypothesis = "The plain loop that the others are compared with."},
                                       launch_variant(plan));

}  // namespace
}  // namespace convladder
