// A user's own stage beside the built-in ones of the convolution: a file that defines `solve`, compiled and called as a
// folder's stages are.
//
//   extern "C" void solve(const float* input, const float* weights, float* output, int batch, int in_channels,
//                         int height, int width, int out_channels, int kernel, int stride, int padding, int groups)
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/measure/ladders/opened_ladder.hpp"

namespace convladder {

class OutsideStage final : public Variant {
 public:
  explicit OutsideStage(std::unique_ptr<Variant> stage) : stage_(std::move(stage)) {}

  const CompiledStage* compiled_stage() const override { return stage_->compiled_stage(); }

  std::string unsupported_reason(const ProblemSize& size) const override;
  std::string not_here() const override { return stage_->not_here(); }
  std::string does_not_compile() const override { return stage_->does_not_compile(); }
  bool launches_by_itself() const override { return stage_->launches_by_itself(); }
  /// The weights are copied to the device; all else is the stage's work in each call.
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override;
  double tolerance() const override { return stage_->tolerance(); }

 private:
  std::unique_ptr<Variant> stage_;  ///< of a folder that has the convolution as its problem
};

/// Compiles the files, and puts each on the rung above its family's highest: "my_conv.cu" is `my-conv`. They last as
/// long as the program; a file that does not compile is there with the reason. Throws UserError for a file that holds
/// no stage, and for a name that a variant has already.
std::vector<ProblemVariant> outside_stages(const std::vector<std::string>& files, const BuildProgress& progress);

/// The files as stages of a folder, whose headers they may include, each on the rung above its family's highest. Throws
/// UserError as above.
std::vector<AddedStage> stages_beside(const LadderFolder& folder, const std::vector<std::string>& files);

/// The stage, in a case's process.
std::unique_ptr<Variant> served_outside_stage(const StageToLoad& stage);

}  // namespace convladder
