// Winograd with the bias, the activation and the max pooling that follow it.
//
// Against stage 12 a map's outputs are pooled and activated while they lie with an image in each lane, before they are
// transposed and written, as in the fused stage with images in lanes. Without pooling, as behind AlexNet's third and
// fourth convolution, bias and ReLU cost no pass over memory of their own. It loses where stage 12 does, and where
// windows overlap, since rows that two strips share are convolved twice.

#include "variants/convolution/cpu/shifted_rows.hpp"
#include "variants/convolution/cpu/tile_convolution.hpp"
#include "variants/convolution/cpu/winograd_task.hpp"
#include "variants/convolution/fused/cpu/fused_lanes.hpp"
#include "variants/convolution/fused/cpu_fused.hpp"

namespace convladder {
namespace {

class FusedWinograd : public FusedLanes<WinogradPlan, WinogradWorkspace, WinogradTask<StorePooledLanes>> {
 public:
  using FusedLanes::FusedLanes;
  static double saved_operations(const FusedShape& shape) { return saved_by_winograd(shape.convolution); }
};

std::string unsupported(const FusedShape& shape) { return winograd_unsupported(shape.convolution); }

/// Whether Winograd is the best choice. With many channels, where nothing else is good, strips of two rows of the
/// images must fill the lanes; with few channels, which the shifted rows do well, the images alone must. Windows must
/// not overlap: strips are low where there are many channels, and those that share rows would compute much twice.
bool suits(const FusedShape& shape) {
  const ConvShape& s = shape.convolution;
  if (shape.pool_size > shape.pool_stride || !winograd_suits(s) || winograd_maps_suit(s) || tiles_suit(s)) return false;
  if (shifted_copies_fit(s)) return 2 * s.batch > chosen_instruction_set().lanes;
  return 4 * winograd_strips(s) >= 3 * instruction_sets_to_choose_from().back().lanes;
}

const VariantRegistration registration{
    "fused-convolution",
    {.family = "cpu",
     .rung = 8,
     .name = "fused-winograd",
     .title = "Winograd 2x2, pooled in the store",
     .builds_on = "separate-winograd",
     .hypothesis =
         "Bias, activation and pooling cost no pass over memory of their own, and fewer outputs are transposed."},
    cpu_fused_variant<FusedWinograd>(unsupported, suits)};

}  // namespace
}  // namespace convladder
