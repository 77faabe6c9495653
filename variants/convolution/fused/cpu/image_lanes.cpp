// Images in lanes with the bias, the activation and the max pooling that follow them.
//
// Against stage 11 a map's sums are pooled while they still lie with an image in each lane: a window's largest takes
// whole vectors and no shuffle, tanh has a vector's worth of work wherever a window lies, and only the pooled map is
// transposed and written, a quarter of the sums for 2/2 and a sixteenth for 4/4. Strips are whole windows high. It
// loses where stage 11 does, and where windows overlap and a strip is not the whole image: rows that two strips share
// are convolved twice.

#include "variants/convolution/cpu/image_lanes_task.hpp"
#include "variants/convolution/cpu/shifted_rows.hpp"
#include "variants/convolution/cpu/tile_convolution.hpp"
#include "variants/convolution/fused/cpu/fused_lanes.hpp"
#include "variants/convolution/fused/cpu_fused.hpp"

namespace convladder {
namespace {

using FusedImageLanes = FusedLanes<ImageLanesPlan, ImageLanesWorkspace, ImageLanesTask<StorePooledLanes>>;

/// Whether images in lanes are the best choice: with few taps the shifted rows do as well and need no images for the
/// lanes, and strips of a few rows of one image read much of the input twice.
bool suits(const FusedShape& shape) {
  constexpr int kManyTaps = 100;
  const ConvShape& s = shape.convolution;
  return s.channels_per_group() * s.kernel * s.kernel >= kManyTaps && has_images_for_lanes(s) &&
         shape.pool_size <= shape.pool_stride && !tiles_suit(s);
}

const VariantRegistration registration{
    "fused-convolution",
    {.family = "cpu",
     .rung = 6,
     .name = "fused-image-lanes",
     .title = "Images in lanes, pooled in the store",
     .builds_on = "separate-image-lanes",
     .hypothesis = "A window's largest is one of whole vectors, and only the pooled outputs are transposed."},
    cpu_fused_variant<FusedImageLanes>(nullptr, suits)};

}  // namespace
}  // namespace convladder
