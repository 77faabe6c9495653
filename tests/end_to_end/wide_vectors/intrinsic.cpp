// A function of AVX-512's header, called from code that is compiled for less.
#include "variants/vector_lanes.hpp"

namespace convladder {

void copy_line(float* to, const float* from);
void copy_line(float* to, const float* from) { _mm512_storeu_ps(to, _mm512_loadu_ps(from)); }

}  // namespace convladder
