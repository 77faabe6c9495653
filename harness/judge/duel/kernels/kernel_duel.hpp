// A duel between kernels: two builds of this program, two variants of it, or the stages of two folders.
#pragma once

#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/judge/duel/duel.hpp"
#include "harness/measure/cases/case_protocol.hpp"
#include "harness/measure/ladders/opened_ladder.hpp"
#include "harness/measure/plan/options.hpp"
#include "harness/measure/plan/plan.hpp"

namespace convladder {

/// The two sides of a comparison: the same variant of two builds, or two variants.
struct KernelPair {
  std::string id;  ///< the case's; with two variants "cpu/A..B/lenet72.conv2/100"
  std::string base_variant;
  std::string new_variant;
  PlannedCase base;
  PlannedCase now;
  CaseVerdict verdict = CaseVerdict::inconclusive;  ///< missing, new, skipped: not measured
  std::string reason;                               ///< the reason for such a verdict
  bool runs() const { return reason.empty(); }
};

/// Pairs that share layer, batch and device, and thus one workload.
struct KernelGroup {
  LayerWork work;
  std::string device;
  std::vector<KernelPair> pairs;
};

/// Plans the cases of `options` on both sides. With `base_variant` and `new_variant` each group has the one pair of
/// them. With `base_folder` the base's stages are those of that folder, with the same names, and run in this program as
/// the new ones do. Throws UserError as make_plan does, and where only devices without a clock are asked for.
std::vector<KernelGroup> plan_kernel_duel(const RunOptions& options, const OtherProgram& base, const OtherProgram& now,
                                          const std::string& base_variant, const std::string& new_variant,
                                          const FolderProblem* base_folder = nullptr);

/// The plan of a duel between the kernels of two programs. All arguments have to live as long as the plan.
DuelPlan kernel_duel(const std::vector<KernelGroup>& groups, const OtherProgram& base, const OtherProgram& now,
                     const ImageSet& images, const DuelSettings& settings);

}  // namespace convladder
