// @title Threads
// @hypothesis rows know nothing of each other: twice the cores, half the time, as far as the memory keeps up
//
// Against the stage below, the rows are shared out among the cores, each a run of neighbouring rows. Gain and bias are
// read by all of them and written by none. That relieves the single core.
//
// When it loses: fewer rows than cores leave some idle, and a single long row uses one. Waking up the others takes some
// microseconds: one core finishes a handful of rows sooner. Where rows come from memory, a few cores are enough for its
// rate.
#include <cmath>
#include <cstddef>

namespace {

void normalize_row(const float* x, const float* gain, const float* bias, float* y, float epsilon, int C) {
  const float first = x[0];
  const int half = C / 2;
  float sum = x[C - 1] - first;  // if C is odd, neither half has this element
  float squares = sum * sum;
  if (C % 2 == 0) sum = squares = 0;
  float other_sum = 0;
  float other_squares = 0;
#pragma omp simd reduction(+ : sum, squares, other_sum, other_squares)
  for (int c = 0; c < half; ++c) {
    const float difference = x[c] - first;
    sum += difference;
    squares += difference * difference;
    const float other_difference = x[c + half] - first;
    other_sum += other_difference;
    other_squares += other_difference * other_difference;
  }
  const float mean = (sum + other_sum) / static_cast<float>(C);  // mean of the differences
  const float variance = std::fmax((squares + other_squares) / static_cast<float>(C) - mean * mean, 0.0F);
  const float factor = 1 / std::sqrt(variance + epsilon);
#pragma omp simd
  for (int c = 0; c < C; ++c) y[c] = (x[c] - first - mean) * factor * gain[c] + bias[c];
}

}  // namespace

extern "C" void solve(const float* x, const float* gain, const float* bias, float* y, float epsilon, int R, int C) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < R; ++r) {
    const std::size_t row = static_cast<std::size_t>(r) * C;
    normalize_row(x + row, gain, bias, y + row, epsilon, C);
  }
}
