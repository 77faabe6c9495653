// @title Threads
// @hypothesis rows know nothing of each other: twice the cores, half the time
//
// Against the stage below, the rows are shared out among the cores. When it loses: fewer rows than cores leave some
// idle, and waking them up takes some microseconds.
#include <algorithm>
#include <cmath>
#include <cstddef>

extern "C" void solve(const float* x, float* y, int R, int C) {
#pragma omp parallel for schedule(static)
  for (int row = 0; row < R; ++row) {
    const float* const from = x + static_cast<std::size_t>(row) * C;
    float* const to = y + static_cast<std::size_t>(row) * C;
    const float largest = *std::max_element(from, from + C);
    float sum = 0;
    for (int c = 0; c < C; ++c) {
      to[c] = std::exp(from[c] - largest);
      sum += to[c];
    }
    for (int c = 0; c < C; ++c) to[c] /= sum;
  }
}
