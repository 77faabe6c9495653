// Winograd with the bias, the activation and the max pooling that follow it.
//
// Against stage 12 a map's outputs are pooled and activated while they lie with an image in each lane, before they are
// transposed and written, as in the fused stage with images in lanes. Without pooling, as behind AlexNet's third and
// fourth convolution, bias and ReLU cost no pass over memory of their own. It loses where stage 12 does, and where
// windows overlap, since rows that two strips share are convolved twice.

#include <fmt/format.h>
#include <omp.h>

#include "variants/convolution/cpu/winograd_task.hpp"
#include "variants/fused/cpu/batch_of_lanes.hpp"
#include "variants/fused/cpu/pooled_lanes.hpp"
#include "variants/fused/cpu_fused.hpp"

namespace convladder {
namespace {

class FusedWinograd {
 public:
  FusedWinograd(const FusedShape& s, const float* weights, const float* bias)
      : shape_(s),
        plan_(s.convolution, row_windows(s), weights, omp_get_max_threads()),
        bias_(bias, bias + (s.has_bias ? s.convolution.out_channels : 0)) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(plan_);
  }

  void run(const float* input, float* output) {
    const StorePooledLanes to{shape_, bias_, output};
    for_each_lane_part(plan_.shape, plan_.set, plan_.map_tiles, plan_.division, plan_.strips,
                       static_cast<int>(workspaces_.size()), [&](const LanePart& part, int thread) {
                         WinogradWorkspace& work = workspaces_[static_cast<std::size_t>(thread)];
                         using Task = WinogradTask<StorePooledLanes>;
                         run_with<Task>(plan_.set.kind, Task{plan_, work, part, input, to});
                       });
  }

  static double saved_multiplications(const FusedShape& shape) { return saved_by_winograd(shape.convolution); }

  std::string choice() const {
    return fmt::format("{}, {} maps at once, {} strips of {} pooled rows, maps in {} parts", plan_.set.name,
                       plan_.set.maps, plan_.set.lanes, plan_.division.windows, plan_.division.map_parts);
  }

 private:
  FusedShape shape_;
  WinogradPlan plan_;
  std::vector<float> bias_;
  std::vector<WinogradWorkspace> workspaces_;
};

std::string unsupported(const FusedShape& shape) { return winograd_unsupported(shape.convolution); }
/// With strips of two rows of its images the batch fills the lanes where nothing else is good at many channels; with
/// images alone where there are few, which the shifted rows do well. Strips are low where there are many channels:
/// those that share rows would do much twice.
bool suits(const FusedShape& shape) {
  const ConvShape& s = shape.convolution;
  const int lanes = chosen_instruction_set().lanes;
  if (shape.pool_size > shape.pool_stride || !winograd_suits(s)) return false;
  if (shifted_copies_fit(s)) return 2 * s.batch > lanes;
  return 4 * std::int64_t{s.batch} * ((s.out_height() + 1) / 2) >= 3 * lanes;
}

const FusedRegistration registration{
    {.family = "cpu",
     .rung = {},
     .name = "fused-winograd",
     .title = "Winograd 2x2, pooled in the store",
     .builds_on = "winograd",
     .hypothesis =
         "Bias, activation and pooling cost no pass over memory of their own, and fewer outputs are transposed."},
    std::make_unique<CpuFusedVariant<FusedWinograd>>(unsupported, suits)};

}  // namespace
}  // namespace convladder
