// Turns a stage with images in lanes into a fused variant: its plan and task, with sums that are pooled as they are
// stored.
#pragma once

#include <fmt/format.h>
#include <omp.h>

#include <string>
#include <vector>

#include "variants/convolution/cpu/lane_tasks.hpp"
#include "variants/convolution/fused/cpu/pooled_lanes.hpp"

namespace convladder {

/// `Task` takes a plan, a thread's workspace, a part of the work, the input and a StorePooledLanes.
template <typename Plan, typename Workspace, typename Task>
class FusedLanes {
 public:
  FusedLanes(const FusedShape& s, const float* weights, const float* bias)
      : shape_(s),
        plan_(s.convolution, row_windows(s), weights,
              Plan::divisions(s.convolution, row_windows(s), omp_get_max_threads()).front()),
        bias_(bias, bias + (s.has_bias ? s.convolution.out_channels : 0)) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(plan_);
  }

  void run(const float* input, float* output) {
    const StorePooledLanes to{shape_, bias_, output};
    for_each_lane_part(plan_.shape, plan_.map_tiles, plan_.division, plan_.strips, static_cast<int>(workspaces_.size()),
                       [&](const LanePart& part, int thread) {
                         Workspace& work = workspaces_[static_cast<std::size_t>(thread)];
                         run_with<Task>(plan_.set.kind, Task{plan_, work, part, input, to});
                       });
  }

  std::string choice() const {
    return fmt::format("{}, {} maps at once, {} strips of {} pooled rows, maps in {} parts", plan_.set.name,
                       plan_.set.maps, plan_.set.lanes, plan_.division.windows, plan_.division.map_parts);
  }

 private:
  FusedShape shape_;
  Plan plan_;
  std::vector<float> bias_;
  std::vector<Workspace> workspaces_;
};

}  // namespace convladder
