// @title Vectors
// @hypothesis an addition adds eight or sixteen elements
//
// Against the stage below, `omp simd reduction` allows the compiler to sum in any order: each lane of a vector sums
// every eighth or sixteenth element, and the lanes are added in the end. An addition still waits for the one before,
// but there are that many fewer of them. Fewer roundings in a row are a gain for the result as well. That relieves the
// chain of additions.
//
// When it loses: rows that are shorter than a vector.
#include <cmath>
#include <cstddef>

namespace {

void normalize_row(const float* x, const float* gain, const float* bias, float* y, float epsilon, int C) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int c = 0; c < C; ++c) sum += x[c];
  const float mean = sum / static_cast<float>(C);
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int c = 0; c < C; ++c) squares += (x[c] - mean) * (x[c] - mean);
  const float factor = 1 / std::sqrt(squares / static_cast<float>(C) + epsilon);
#pragma omp simd
  for (int c = 0; c < C; ++c) y[c] = (x[c] - mean) * factor * gain[c] + bias[c];
}

}  // namespace

extern "C" void solve(const float* x, const float* gain, const float* bias, float* y, float epsilon, int R, int C) {
  for (int r = 0; r < R; ++r) {
    const std::size_t row = static_cast<std::size_t>(r) * C;
    normalize_row(x + row, gain, bias, y + row, epsilon, C);
  }
}
