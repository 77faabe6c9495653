// @title Lower precision
// expected: incorrect
//
// It computes in bfloat16.
#include <cstdint>
#include <cstring>
extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) {
    uint32_t bits;
    memcpy(&bits, x + i, 4);
    bits &= 0xffff0000U;
    float rounded;
    memcpy(&rounded, &bits, 4);
    y[i] = 2 * rounded;
  }
}
