// Images in lanes with the bias, the activation and the max pooling that follow them.
//
// Against stage 11 a map's sums are pooled while they still lie with an image in each lane: a window's largest takes
// whole vectors and no shuffle, tanh has a vector's worth of work wherever a window lies, and only the pooled map is
// transposed and written, a quarter of the sums for 2/2 and a sixteenth for 4/4. Strips are whole windows high. It
// loses where stage 11 does, and where windows overlap and a strip is not the whole image: rows that two strips share
// are convolved twice.

#include <fmt/format.h>
#include <omp.h>

#include "variants/convolution/cpu/image_lanes_task.hpp"
#include "variants/fused/cpu/batch_of_lanes.hpp"
#include "variants/fused/cpu/pooled_lanes.hpp"
#include "variants/fused/cpu_fused.hpp"

namespace convladder {
namespace {

class FusedImageLanes {
 public:
  FusedImageLanes(const FusedShape& s, const float* weights, const float* bias)
      : shape_(s),
        plan_(s.convolution, row_windows(s), weights, omp_get_max_threads()),
        bias_(bias, bias + (s.has_bias ? s.convolution.out_channels : 0)) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(plan_);
  }

  void run(const float* input, float* output) {
    const StorePooledLanes to{shape_, bias_, output};
    for_each_lane_part(plan_.shape, plan_.set, plan_.map_tiles, plan_.division, plan_.strips,
                       static_cast<int>(workspaces_.size()), [&](const LanePart& part, int thread) {
                         ImageLanesWorkspace& work = workspaces_[static_cast<std::size_t>(thread)];
                         using Task = ImageLanesTask<StorePooledLanes>;
                         run_with<Task>(plan_.set.kind, Task{plan_, work, part, input, to});
                       });
  }

  std::string choice() const {
    return fmt::format("{}, {} maps at once, {} strips of {} pooled rows, maps in {} parts", plan_.set.name,
                       plan_.set.maps, plan_.set.lanes, plan_.division.windows, plan_.division.map_parts);
  }

 private:
  FusedShape shape_;
  ImageLanesPlan plan_;
  std::vector<float> bias_;
  std::vector<ImageLanesWorkspace> workspaces_;
};

/// Of few taps the shifted rows make as much, and they need no images for the lanes: strips of a few rows of one image
/// read much twice.
bool suits(const FusedShape& shape) {
  constexpr int kManyTaps = 100;
  const ConvShape& s = shape.convolution;
  return s.channels_per_group() * s.kernel * s.kernel >= kManyTaps && has_images_for_lanes(s) &&
         shape.pool_size <= shape.pool_stride;
}

const FusedRegistration registration{
    {.family = "cpu",
     .rung = {},
     .name = "fused-image-lanes",
     .title = "Images in lanes, pooled in the store",
     .builds_on = "image-lanes",
     .hypothesis = "A window's largest is one of whole vectors, and only the pooled outputs are transposed."},
    std::make_unique<CpuFusedVariant<FusedImageLanes>>(nullptr, suits)};

}  // namespace
}  // namespace convladder
