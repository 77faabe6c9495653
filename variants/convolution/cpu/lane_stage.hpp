// Turns strips of images in lanes into a stage: combines a plan and a task with a division that the model chooses or
// that is asked for.
#pragma once

#include <omp.h>

#include <string>
#include <vector>

#include "variants/convolution/cpu/lane_tasks.hpp"

namespace convladder {

/// `Plan` has the static `divisions` and is made of one of them; `Task` takes a plan, a thread's workspace, a part of
/// the work, the input and a StoreStrips. The members are those that a tunable variant needs (cpu_variant.hpp).
template <typename Plan, typename Workspace, typename Task>
class LaneStage {
 public:
  LaneStage(const ConvShape& s, const float* weights, const Configuration& wanted)
      : plan_(s, {.count = s.out_height()}, weights, first_that_agrees(divisions(s), wanted)) {
    for (int thread = 0; thread < omp_get_max_threads(); ++thread) workspaces_.emplace_back(plan_);
  }

  static Configurations configurations(const ConvShape& s, const Configuration& wanted, int most) {
    return lane_configurations(divisions(s), wanted, most);
  }
  static std::string impossible(const ConvShape& s, const Configuration& wanted) {
    return impossible_configuration(wanted, configurations_of(divisions(s)), shape_name(s));
  }

  void convolve(const float* input, float* output) {
    const StoreStrips to{plan_.shape, plan_.past_caches, output};
    for_each_lane_part(plan_.shape, plan_.map_tiles, plan_.division, plan_.strips, static_cast<int>(workspaces_.size()),
                       [&](const LanePart& part, int thread) {
                         Workspace& work = workspaces_[static_cast<std::size_t>(thread)];
                         run_with<Task>(plan_.set.kind, Task{plan_, work, part, input, to});
                       });
  }

 protected:
  const Plan& plan() const { return plan_; }

 private:
  static std::vector<LaneDivision> divisions(const ConvShape& s) {
    return Plan::divisions(s, {.count = s.out_height()}, omp_get_max_threads());
  }

  Plan plan_;
  std::vector<Workspace> workspaces_;
};

}  // namespace convladder
