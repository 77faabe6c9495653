#include "harness/measure/verification/output_fill.hpp"

namespace convladder {

void write_fill(void* to, ElementType type, const OutputFill& fill, std::int64_t first, std::int64_t count) {
  with_element_type(type, [&]<typename T>(T) {
    auto* const elements = static_cast<T*>(to);
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) elements[i] = fill.element<T>(first + i);
  });
}

}  // namespace convladder
