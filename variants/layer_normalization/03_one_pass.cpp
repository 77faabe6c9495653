// @title Both sums in one pass
// @hypothesis two chains of additions side by side, and a row is read twice instead of three times
//
// Against the stage below, one loop sums the elements and their squares: the variance is the mean of the squares less
// the square of the mean. Taken literally that loses all digits where the mean is large against the deviation, since
// two large numbers are subtracted; so both sums are of differences to the row's first element, which is as near to the
// mean as any other. The two chains of additions do not wait for each other, and each element is loaded once for both.
// That relieves the latency of additions and the loads.
//
// When it loses: it loses digits where the first element lies far from all others: n deviations away from the mean cost
// as much as n^2 times the rounding. Rows of a few elements gain nothing.
#include <cmath>
#include <cstddef>

namespace {

void normalize_row(const float* x, const float* gain, const float* bias, float* y, float epsilon, int C) {
  const float first = x[0];
  float sum = 0;
  float squares = 0;
#pragma omp simd reduction(+ : sum, squares)
  for (int c = 0; c < C; ++c) {
    const float difference = x[c] - first;
    sum += difference;
    squares += difference * difference;
  }
  const float mean = sum / static_cast<float>(C);  // mean of the differences
  const float variance = std::fmax(squares / static_cast<float>(C) - mean * mean, 0.0F);
  const float factor = 1 / std::sqrt(variance + epsilon);
#pragma omp simd
  for (int c = 0; c < C; ++c) y[c] = (x[c] - first - mean) * factor * gain[c] + bias[c];
}

}  // namespace

extern "C" void solve(const float* x, const float* gain, const float* bias, float* y, float epsilon, int R, int C) {
  for (int r = 0; r < R; ++r) {
    const std::size_t row = static_cast<std::size_t>(r) * C;
    normalize_row(x + row, gain, bias, y + row, epsilon, C);
  }
}
