// @title As the formula reads
// @hypothesis Each half float is taken apart again for each product: a dozen instructions for one multiply-add.
//
// The three loops of the definition. CPUs do not compute with half floats, or only the newest of them do, so each
// factor is turned into a float by its bits: sign, exponent and fraction are moved to their places in a float.
//
// What it costs: two conversions for each product, each a dozen instructions with branches, and the columns of B are
// read against the order in which they lie. It never wins; everything above is compared with it.
#include <cstddef>
#include <cstdint>

#include "half_floats.hpp"

extern "C" void solve(const std::uint16_t* a, const std::uint16_t* b, float* c, int M, int N, int K) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = 0.0F;
      for (int k = 0; k < K; ++k) {
        sum += half_floats::to_float(a[static_cast<std::size_t>(i) * K + k]) *
               half_floats::to_float(b[static_cast<std::size_t>(k) * N + j]);
      }
      c[static_cast<std::size_t>(i) * N + j] = sum;
    }
  }
}
