// Stage 13: fp32 on the tiles of AMX, by six products of bf16.
//
// A matrix unit multiplies bf16 numbers at 16 times the rate of fp32 multiply-adds, and sums in fp32. Against stage 8
// weights and input are each cut into three bf16 numbers, high, middle and low, whose sum they are exactly; of the nine
// products of parts the six largest are made, so that 16 / 6 = 2.7 times the peak of fp32 is left. It relieves the
// multiply-adders, which bind every stage below. It loses where tiles are mostly zeros, with fewer than 16 maps or 32
// taps, where copying each input for each tap takes longer than the products, and needs a processor with AMX.
//
// Errors, relative to sum |x * w|: the products that are left out, middle x low both ways and low x low, are at most
// 2^-23, with either sign. A tile instruction sums 32 products from zero and adds that to the sum, which of n taps is
// rounded 6 n / 32 times, where stage 8 rounds it n times. So the class of fp32 is kept without partial sums apart. The
// instruction takes denormal numbers as zero and makes zero of denormal results, and no mode changes that. So a number
// below 2^-103 loses bits of its low part, one below 2^-105 loses more than the class allows, and each step of a sum
// loses up to 2^-126: too much only where all of a sum's products are below about 2^-103. Usual numbers are far from
// that; anyone who has such numbers takes another stage. An infinity gives infinity, or NaN where it is multiplied by a
// part that is zero: never a finite number.

#include "variants/convolution/cpu/tile_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 13,
     .name = "amx-six-products",
     .title = "AMX, six bf16 products",
     .builds_on = "implicit-gemm",
     .hypothesis = "Tiles multiply bf16 at 16 times the rate of fp32; six products of parts make one of fp32."},
    keep_variant(std::make_unique<PreparingCpuVariant<TileStage<PartProducts::six>>>(no_tile_unit, tiles_suit))};

}  // namespace
}  // namespace convladder
