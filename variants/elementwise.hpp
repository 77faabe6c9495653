// Applies one function to every element, using all cores: the operators that need no neighbours share it.
#pragma once

#include <cstdint>

namespace convladder {

/// Computes output[i] = function(input[i]); output == input is allowed.
template <typename Function>
void for_each_element(std::int64_t count, const float* input, float* output, const Function& function) {
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < count; ++i) output[i] = function(input[i]);
}

}  // namespace convladder
