// @title Threads
// @hypothesis rows know nothing of each other: twice the cores, half the time, as far as the memory keeps up
//
// Against the stage below, the rows are shared out among the cores, each a run of neighbouring rows. Nothing else
// changes: no row needs another one. That relieves the single core.
//
// When it loses: fewer rows than cores leave some idle, and a single long row uses one. Waking up the others takes some
// microseconds: one core finishes a handful of rows sooner. Where rows come from memory, a few cores are enough for its
// rate.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace {

/// e^x for x <= 0, relative error |x| * 2^-23 + 2^-22; 0 below -87, where float32 has no normal numbers left.
float exponential(float x) {
  const float power = x * 1.44269504F;
  // Adding 1.5 * 2^23 leaves the nearest whole number in the lowest bits.
  const float shifted = power + 12582912.0F;
  const float f = power - (shifted - 12582912.0F);
  const float scale = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U);
  float value = 0.00015478024F;
  value = value * f + 0.0013400431F;
  value = value * f + 0.009617995F;
  value = value * f + 0.05550327F;
  value = value * f + 0.24022652F;
  value = value * f + 0.6931472F;
  value = value * f + 1.0F;
  // A mask of bits, since g++ makes a branch of "x < -87 ? 0 : …" and then does not vectorise the loop.
  const std::uint32_t all_or_none = 0U - static_cast<std::uint32_t>(!(x < -87.0F));
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value * scale) & all_or_none);
}

/// The largest of C elements.
float largest_of(const float* x, int C) {
  constexpr int kLanes = 64;
  float largest = x[0];
  int c = 0;
  if (C >= kLanes) {
    float lanes[kLanes];
    std::copy_n(x, kLanes, lanes);
    for (c = kLanes; c + kLanes <= C; c += kLanes) {
#pragma omp simd
      for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = x[c + lane] > lanes[lane] ? x[c + lane] : lanes[lane];
    }
    for (int half = kLanes / 2; half > 0; half /= 2) {
#pragma omp simd
      for (int lane = 0; lane < half; ++lane) lanes[lane] = std::max(lanes[lane], lanes[lane + half]);
    }
    largest = lanes[0];
  }
  for (; c < C; ++c) largest = std::max(largest, x[c]);
  return largest;
}

void softmax_row(const float* x, float* y, int C) {
  const float largest = largest_of(x, C);
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int c = 0; c < C; ++c) {
    const float value = exponential(x[c] - largest);
    y[c] = value;
    sum += value;
  }
  const float factor = 1 / sum;
#pragma omp simd
  for (int c = 0; c < C; ++c) y[c] *= factor;
}

}  // namespace

extern "C" void solve(const float* x, float* y, int R, int C) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < R; ++r) {
    const std::size_t row = static_cast<std::size_t>(r) * C;
    softmax_row(x + row, y + row, C);
  }
}
