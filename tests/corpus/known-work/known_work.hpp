// `passes` over all numbers, each a multiply and an add for every number. y = y / 2 + x settles on 2 x, so after the
// first thirty passes the result no longer says how many there were. How many is read from memory, so that the compiler
// makes the same code of every stage.
#include <cstddef>

inline void known_work(const float* x, float* y, int n, const volatile int& passes) {
  const int count = passes;
  for (int i = 0; i < n; ++i) y[i] = x[i];
  for (int pass = 0; pass < count; ++pass) {
    for (int i = 0; i < n; ++i) y[i] = y[i] * 0.5F + x[i];
  }
}
