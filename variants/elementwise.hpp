// One function of every element, over all cores: what the operators without neighbours share.
#pragma once

#include <cstdint>

namespace convladder {

/// output[i] = function(input[i]); output == input is allowed.
template <typename Function>
void for_each_element(std::int64_t count, const float* input, float* output, const Function& function) {
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < count; ++i) output[i] = function(input[i]);
}

}  // namespace convladder
