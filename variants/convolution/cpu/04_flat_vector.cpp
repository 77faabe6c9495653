// Stage 4: one flat index over output pixels, which vectorises.
//
// Against stage 3 the two loops over output rows and columns become one over a flat pixel index, and the loop over
// taps moves outside of it: one weight is multiplied with a long run of neighbouring pixels at a time. Nothing in that
// loop depends on its neighbour, so the compiler fills whole vectors, and the chain of dependent additions is gone.
// The flat index also runs over the few columns between the rows' ends and the tile's pitch; those lanes are wasted
// and dropped when storing. The sums of a run are kept in an array in the first-level cache, which each tap loads and
// stores: that is what limits it now. It loses on images so small that the wasted columns outweigh the vectors.

#include "variants/convolution/cpu/flat_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

constexpr int kRun = 512;  // outputs whose sums stay in the first-level cache: 2 KiB

void accumulate(const FlatRun& run, float* sums) {
  std::fill_n(sums, run.count, 0.0F);
  const float* weight = run.filter;
  for (int c = 0; c < run.shape.channels_per_group(); ++c) {
    for (int p = 0; p < run.shape.kernel; ++p) {
      for (int q = 0; q < run.shape.kernel; ++q) add_tap(sums, run.pixels(c, p, q), *weight++, run.count);
    }
  }
}

void flat_vector(const ConvShape& s, const float* x, const float* w, float* y) {
  flat_convolution<kRun>(s, x, w, y, accumulate);
}

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 4,
     .name = "flat-vector",
     .title = "Flat index, vectorised",
     .builds_on = "cached-tile",
     .hypothesis = "Independent neighbouring pixels fill the vector units, and no addition waits for the one before."},
    cpu_variant(flat_vector)};

}  // namespace
}  // namespace convladder
