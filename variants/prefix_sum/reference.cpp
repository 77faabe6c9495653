// The definition, in 64 bits.
#include <cstdint>

extern "C" void reference(const int32_t* x, int32_t* y, int N) {
  int64_t sum = 0;
  for (int i = 0; i < N; ++i) {
    sum += x[i];
    y[i] = static_cast<int32_t>(sum);
  }
}
