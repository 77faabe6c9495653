// @title Three loops over a row
// @hypothesis the sums set the pace: each addition waits for the one before
//
// As the definition reads, row by row: the mean, the variance from the differences to it, and the result.
//
// What it costs: the compiler must not reorder a sum of floats, so it adds one element after the other, and an addition
// takes two to four cycles until the next can begin. Only the last loop, which has no sum, becomes vectors.
#include <cmath>
#include <cstddef>

extern "C" void solve(const float* x, const float* gain, const float* bias, float* y, float epsilon, int R, int C) {
  for (int r = 0; r < R; ++r) {
    const float* const from = x + static_cast<std::size_t>(r) * C;
    float* const to = y + static_cast<std::size_t>(r) * C;
    float sum = 0;
    for (int c = 0; c < C; ++c) sum += from[c];
    const float mean = sum / static_cast<float>(C);
    float squares = 0;
    for (int c = 0; c < C; ++c) squares += (from[c] - mean) * (from[c] - mean);
    const float factor = 1 / std::sqrt(squares / static_cast<float>(C) + epsilon);
    for (int c = 0; c < C; ++c) to[c] = (from[c] - mean) * factor * gain[c] + bias[c];
  }
}
