// Stage 12: Winograd's minimal filtering, two by two outputs at a time.
//
// Against stage 11 the inputs are added to and subtracted from their neighbours before they are multiplied, and so are
// the weights in `prepare`; then two by two outputs of a 3x3 kernel take 16 products for each channel instead of 36,
// of a 5x5 kernel 49 instead of 100, of a 7x7 kernel 121 instead of 196, of an 11x11 kernel with stride 4, which is
// cut into its phases, 225 instead of 484. With images in lanes every addition is one of whole vectors, whatever the
// position. Products that go into the outputs in the same way are added up over all taps and channels in the register
// tile of stage 7; there are 16 ways, and they come together when they are stored. It relieves the multipliers, which
// are what limits wide layers, and costs memory: the filtered inputs are made for one way of the rows and a block of
// columns at a time, so that they stay near. It loses where few maps use them, and has no use for kernels of size 1.
//
// Small integers stay exact, and rounding errors are of the size of a direct sum's where an output has many inputs. But
// they scale with the largest products around an output, not with the output's own: where an output has few inputs that
// are not zero, and small weights there, the error would be large beside them. Such outputs are found and computed
// directly (few_inputs.hpp), and shapes that have no others are refused.

#include <fmt/format.h>

#include "variants/convolution/cpu/lane_stage.hpp"
#include "variants/convolution/cpu/winograd_task.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

class Winograd : public LaneStage<WinogradPlan, WinogradWorkspace, WinogradTask<StoreStrips>> {
 public:
  using LaneStage::LaneStage;

  std::string choice() const {
    const auto terms = plan().dimension.terms.size();
    return fmt::format("{}, {} products for 2x2 outputs, {} maps x {} pairs x {} strips of {} rows, maps in {} parts",
                       plan().set.name, terms * terms, plan().set.maps, plan().set.vectors, plan().set.lanes,
                       plan().division.rows, plan().division.map_parts);
  }

  static double saved_operations(const ConvShape& shape) { return saved_by_winograd(shape); }
};

bool suits(const ConvShape& s) { return winograd_suits(s) && winograd_has_strips(s) && !winograd_maps_suit(s); }

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 12,
     .name = "winograd",
     .title = "Winograd 2x2",
     .builds_on = "image-lanes",
     .hypothesis = "Less than half of the multiplications for 3x3 and 5x5 kernels and for 11x11 with stride 4, less "
                   "than two thirds for 7x7."},
    keep_variant(std::make_unique<TunableCpuVariant<Winograd>>(winograd_unsupported, suits))};

}  // namespace
}  // namespace convladder
