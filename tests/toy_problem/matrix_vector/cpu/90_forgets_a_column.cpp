// Wrong on purpose: the last column of the last row is left out.
#include "variants/function_variant.hpp"

namespace convladder {
namespace {

void multiply(const ProblemSize& size, const ProblemTensors& tensors) {
  const int rows = size.at("R");
  const int columns = size.at("C");
  for (int item = 0; item < size.batch; ++item) {
    for (int row = 0; row < rows; ++row) {
      float sum = 0;
      for (int column = 0; column < columns - (row == rows - 1 ? 1 : 0); ++column) {
        sum += tensors.constant()[static_cast<std::ptrdiff_t>(row) * columns + column] *
               tensors.input()[static_cast<std::ptrdiff_t>(item) * columns + column];
      }
      tensors.output()[static_cast<std::ptrdiff_t>(item) * rows + row] = sum;
    }
  }
}

const VariantRegistration registration("matrix-vector",
                                       {.family = "cpu",
                                        .rung = 90,
                                        .name = "forgets-a-column",
                                        .title = "Forgets a column",
                                        .builds_on = "rows",
                                        .hypothesis = "It is refused."},
                                       function_variant(multiply));

}  // namespace
}  // namespace convladder
