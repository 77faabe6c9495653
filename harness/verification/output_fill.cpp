#include "harness/verification/output_fill.hpp"

namespace convladder {

void write_fill(float* to, const OutputFill& fill, std::int64_t first, std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) to[i] = fill.at(first + i);
}

}  // namespace convladder
