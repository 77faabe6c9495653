// Stage 2: four rows at a time.
#include <algorithm>

#include "variants/function_variant.hpp"

namespace convladder {
namespace {

void multiply(const ProblemSize& size, const ProblemTensors& tensors) {
  constexpr int at_once = 4;
  const int rows = size.at("R");
  const int columns = size.at("C");
#pragma omp parallel for schedule(static)
  for (int item = 0; item < size.batch; ++item) {
    const float* const x = tensors.input() + static_cast<std::ptrdiff_t>(item) * columns;
    for (int first = 0; first < rows; first += at_once) {
      const int count = std::min(at_once, rows - first);
      float sums[at_once] = {};
      for (int column = 0; column < columns; ++column) {
        for (int i = 0; i < count; ++i) {
          sums[i] += tensors.constant()[static_cast<std::ptrdiff_t>(first + i) * columns + column] * x[column];
        }
      }
      std::copy_n(sums, count, tensors.output() + static_cast<std::ptrdiff_t>(item) * rows + first);
    }
  }
}

const VariantRegistration registration("matrix-vector",
                                       {.family = "cpu",
                                        .rung = 2,
                                        .name = "four-rows",
                                        .title = "Four rows",
                                        .builds_on = "rows",
                                        .hypothesis = "Each element of the vector is loaded once for four rows."},
                                       function_variant(multiply));

}  // namespace
}  // namespace convladder
