// Stage 1: a dot product for each row.
#include "variants/function_variant.hpp"

namespace convladder {
namespace {

void multiply(const ProblemSize& size, const ProblemTensors& tensors) {
  const int rows = size.at("R");
  const int columns = size.at("C");
#pragma omp parallel for collapse(2) schedule(static)
  for (int item = 0; item < size.batch; ++item) {
    for (int row = 0; row < rows; ++row) {
      const float* const a = tensors.constant() + static_cast<std::ptrdiff_t>(row) * columns;
      const float* const x = tensors.input() + static_cast<std::ptrdiff_t>(item) * columns;
      float sum = 0;
      for (int column = 0; column < columns; ++column) sum += a[column] * x[column];
      tensors.output()[static_cast<std::ptrdiff_t>(item) * rows + row] = sum;
    }
  }
}

const VariantRegistration registration("matrix-vector",
                                       {.family = "cpu",
                                        .rung = 1,
                                        .name = "rows",
                                        .title = "Rows",
                                        .builds_on = "",
                                        .hypothesis = "The plain loop that the others are compared with."},
                                       function_variant(multiply));

}  // namespace
}  // namespace convladder
