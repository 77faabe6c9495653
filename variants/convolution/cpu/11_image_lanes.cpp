// Stage 11: a vector holds the same pixel of many images.
//
// Compared with stage 8, a lane holds not a pixel but an image, or a strip of rows of one: inputs are transposed into
// [channel][row][column][image], sums back. Then a vector is one output pixel, whatever the width of the image, the
// stride and the padding: no lane is spent at the end of a row, no tap is copied once for each output that it belongs
// to, and every load is one whole cache line at a place that depends only on the tap. A register tile is maps x pixels,
// all taps of all channels in one go, and neighbouring pixels find most of their inputs in the first-level cache.
// Transposing costs some cycles for each input and output, so it loses where there are few taps for each output (one
// channel); and where there are fewer images than lanes, which then get strips of few rows with much overlap.

#include <fmt/format.h>

#include "variants/convolution/cpu/image_lanes_task.hpp"
#include "variants/convolution/cpu/lane_stage.hpp"
#include "variants/convolution/cpu/shifted_rows.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

class ImageLanes : public LaneStage<ImageLanesPlan, ImageLanesWorkspace, ImageLanesTask<StoreStrips>> {
 public:
  using LaneStage::LaneStage;

  std::string choice() const {
    return fmt::format("{}, {} maps x {} pixels x {} strips of {} rows, maps in {} parts", plan().set.name,
                       plan().set.maps, plan().set.vectors, plan().set.lanes, plan().division.rows,
                       plan().division.map_parts);
  }
};

/// Shifted rows do as well where the copies of an image fit into the cache. Small batches are cut into strips of few
/// rows, which read much of the input twice.
bool suits(const ConvShape& s) { return has_many_taps(s) && !shifted_copies_fit(s) && has_images_for_lanes(s); }

const VariantRegistration registration{
    "convolution",
    {.family = "cpu",
     .rung = 11,
     .name = "image-lanes",
     .title = "Images in lanes",
     .builds_on = "implicit-gemm",
     .hypothesis = "One image per lane: no lane is idle at the end of a row, and no input is copied for each tap."},
    keep_variant(std::make_unique<TunableCpuVariant<ImageLanes>>(nullptr, suits))};

}  // namespace
}  // namespace convladder
