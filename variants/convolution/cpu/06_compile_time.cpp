// Stage 6: sizes known at compile time.
//
// Against stage 5 the kernel size, the stride and the length of a run are constants of the compiled code: one copy of
// it per kernel size and stride. The compiler then unrolls a whole filter, turns every tap's offset into a constant,
// and, the run being short and its length fixed, keeps the partial sums in vector registers from the first tap to the
// last: no sum is loaded or stored at all until it is done. What remains is one load of pixels per multiply-add. It
// computes whole runs, so it wastes work where few outputs are left over, and it refuses sizes it was not compiled for.

#include <fmt/format.h>

#include <array>

#include "variants/convolution/cpu/flat_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

constexpr int kRun = 128;  // eight registers of sixteen floats: enough independent sums to hide an addition's latency
static_assert(kRun <= InputTile::kSlack, "a run is loaded whole, past the last pixel");

template <int kKernel, int kStride>
void accumulate(const FlatRun& run, float* sums) {
  const int plane = run.tile.plane();
  const int pitch = run.tile.pitch();
  std::array<float, kRun> sum{};
  const float* weight = run.filter;
  for (int c = 0; c < run.shape.channels_per_group(); ++c) {
    const float* const channel = run.pixels(c, 0, 0);
#pragma GCC unroll 16
    for (int p = 0; p < kKernel; ++p) {
#pragma GCC unroll 16
      for (int q = 0; q < kKernel; ++q) {
        const float* const pixels =
            channel + ((p % kStride) * kStride + q % kStride) * plane + (p / kStride) * pitch + q / kStride;
        const float w = *weight++;
        for (int i = 0; i < kRun; ++i) sum[i] += w * pixels[i];
      }
    }
  }
  std::ranges::copy(sum, sums);
}

using Convolution = void (*)(const ConvShape&, const float*, const float*, float*);

struct Instance {
  int kernel;
  int stride;
  Convolution run;
};

template <int kKernel, int kStride>
constexpr Instance instance() {
  return {kKernel, kStride, [](const ConvShape& s, const float* x, const float* w, float* y) {
            flat_convolution<kRun>(s, x, w, y, accumulate<kKernel, kStride>);
          }};
}

constexpr std::array kInstances = {instance<1, 1>(),  instance<3, 1>(), instance<5, 1>(), instance<7, 1>(),
                                   instance<11, 1>(), instance<1, 2>(), instance<3, 2>(), instance<5, 2>(),
                                   instance<7, 2>(),  instance<11, 4>()};

const Instance* find_instance(const ConvShape& s) {
  const auto found =
      std::ranges::find_if(kInstances, [&](const Instance& i) { return i.kernel == s.kernel && i.stride == s.stride; });
  return found == kInstances.end() ? nullptr : &*found;
}

std::string unsupported(const ConvShape& s) {
  if (find_instance(s) != nullptr) return {};
  std::string known;
  for (const Instance& i : kInstances) known += fmt::format("{}{}/{}", known.empty() ? "" : ", ", i.kernel, i.stride);
  return fmt::format("kernel {} with stride {} is not compiled in; kernel/stride that are: {}", s.kernel, s.stride,
                     known);
}

void compile_time(const ConvShape& s, const float* x, const float* w, float* y) { find_instance(s)->run(s, x, w, y); }

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 6,
     .name = "compile-time",
     .title = "Compile-time sizes",
     .builds_on = "unrolled-taps",
     .hypothesis = "With constant sizes the sums stay in vector registers over all taps: one load per multiply-add."},
    cpu_variant(compile_time, unsupported)};

}  // namespace
}  // namespace convladder
