// Stage 14: three products of bf16, in an accuracy class of its own.
//
// Against stage 13 the low parts are left out. High x high and high x middle both ways remain: half of the products,
// and two thirds of the data that is copied and loaded. A product is then off by at most 3 * 2^-16 of |x * w|, the
// share of high x low and middle x middle: 16 bits instead of 24. That is its class, between fp32 and tf32. It loses to
// stage 13 only in accuracy.

#include "variants/convolution/cpu/tile_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

/// Less accurate than fp32, so it runs only where it is named.
bool suits(const ConvShape& /*shape*/) { return false; }

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 14,
     .name = "amx-three-products",
     .title = "AMX, three bf16 products",
     .builds_on = "amx-six-products",
     .hypothesis = "Half of the products, and a third less to copy, for 16 bits of accuracy."},
    keep_variant(std::make_unique<PreparingCpuVariant<TileStage<PartProducts::three>>>(no_tile_unit, suits))};

}  // namespace
}  // namespace convladder
