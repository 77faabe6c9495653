// Stage 5: several taps in one pass.
//
// Against stage 4 the loop over the taps of a filter row is unrolled by four: one pass over the sums adds four taps,
// so the sums are loaded and stored once for four multiply-adds instead of once for each. Loads of pixels remain. A
// filter row whose length is no multiple of four ends with single taps; for kernels of three or less nothing is
// unrolled and nothing is gained.

#include "variants/convolution/cpu/flat_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

constexpr int kRun = 512;  // outputs whose sums stay in the first-level cache: 2 KiB
constexpr int kUnrolled = 4;

/// Adds the taps q .. q + 3 of a filter row in one pass over the sums.
void add_four_taps(const FlatRun& run, int c, int p, int q, const float* weights, float* __restrict sums) {
  const float* __restrict x0 = run.pixels(c, p, q);
  const float* __restrict x1 = run.pixels(c, p, q + 1);
  const float* __restrict x2 = run.pixels(c, p, q + 2);
  const float* __restrict x3 = run.pixels(c, p, q + 3);
  const float w0 = weights[0];
  const float w1 = weights[1];
  const float w2 = weights[2];
  const float w3 = weights[3];
  for (int i = 0; i < run.count; ++i) {
    float sum = sums[i];
    sum += w0 * x0[i];
    sum += w1 * x1[i];
    sum += w2 * x2[i];
    sum += w3 * x3[i];
    sums[i] = sum;
  }
}

void accumulate(const FlatRun& run, float* sums) {
  const int kernel = run.shape.kernel;
  std::fill_n(sums, run.count, 0.0F);
  for (int c = 0; c < run.shape.channels_per_group(); ++c) {
    for (int p = 0; p < kernel; ++p) {
      const float* const weights = run.filter + (c * kernel + p) * kernel;
      int q = 0;
      for (; q + kUnrolled <= kernel; q += kUnrolled) add_four_taps(run, c, p, q, weights + q, sums);
      for (; q < kernel; ++q) add_tap(sums, run.pixels(c, p, q), weights[q], run.count);
    }
  }
}

void unrolled_taps(const ConvShape& s, const float* x, const float* w, float* y) {
  flat_convolution<kRun>(s, x, w, y, accumulate);
}

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 5,
     .name = "unrolled-taps",
     .title = "Unrolled taps",
     .builds_on = "flat-vector",
     .hypothesis = "Four taps per pass quarter the loads and stores of the partial sums."},
    cpu_variant(unrolled_taps)};

}  // namespace
}  // namespace convladder
