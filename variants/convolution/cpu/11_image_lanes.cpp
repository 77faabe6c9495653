// Stage 11: a vector holds the same pixel of many images.
//
// Compared with stage 8, a lane holds not a pixel but an image, or a strip of rows of one: inputs are transposed into
// [channel][row][column][image], sums back. Then a vector is one output pixel, whatever the width of the image, the
// stride and the padding: no lane is spent at the end of a row, no tap is copied once for each output that it belongs
// to, and every load is one whole cache line, at a place that only depends on the tap. A register tile is maps x
// pixels, all taps of all channels in one go, and neighbouring pixels find most of their inputs in the first-level
// cache. Transposing costs some cycles for each input and output, so it loses where there are few taps for each output
// (one channel); and where there are fewer images than lanes, which then get strips of few rows with much overlap.

#include <fmt/format.h>
#include <omp.h>

#include "variants/convolution/cpu/batch_of_lanes.hpp"
#include "variants/convolution/cpu/image_lanes_task.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

class ImageLanes {
 public:
  ImageLanes(const ConvShape& shape, const float* weights) : plan_(shape, weights, omp_get_max_threads()) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(plan_);
  }

  void convolve(const float* input, float* output) {
    const StoreStrips to{plan_.shape, plan_.past_caches, output};
    for_each_lane_part(plan_.shape, plan_.set, plan_.map_tiles, plan_.division, plan_.strips,
                       static_cast<int>(workspaces_.size()), [&](const LanePart& part, int thread) {
                         ImageLanesWorkspace& work = workspaces_[static_cast<std::size_t>(thread)];
                         run_with<ImageLanesTask<StoreStrips>>(
                             plan_.set.kind, ImageLanesTask<StoreStrips>{plan_, work, part, input, to});
                       });
  }

  std::string choice() const {
    return fmt::format("{}, {} maps x {} pixels x {} strips of {} rows, maps in {} parts", plan_.set.name,
                       plan_.set.maps, plan_.set.vectors, plan_.set.lanes, plan_.division.rows,
                       plan_.division.map_parts);
  }

 private:
  ImageLanesPlan plan_;
  std::vector<ImageLanesWorkspace> workspaces_;
};

/// The shifted rows do as well where the copies of an image fit into the cache; with few images strips of few rows read
/// much twice.
bool suits(const ConvShape& s) { return has_many_taps(s) && !shifted_copies_fit(s) && has_images_for_lanes(s); }

const VariantRegistration registration{
    {.family = "cpu",
     .rung = 11,
     .name = "image-lanes",
     .title = "Images in lanes",
     .builds_on = "implicit-gemm",
     .hypothesis = "One image per lane: no lane is idle at the end of a row, and no input is copied for each tap."},
    keep_variant(std::make_unique<PreparingCpuVariant<ImageLanes>>(nullptr, suits))};

}  // namespace
}  // namespace convladder
