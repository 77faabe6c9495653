// A stage of a folder as the harness knows variants: a shared library with `solve`, or the reason why there is none.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ladders/folder_problem.hpp"
#include "ladders/stage_build.hpp"
#include "ladders/stage_source.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// Compiles the stage with these parameters, or finds it compiled. Any thread may call.
using StageBuilds = std::function<StageBuild(const StageDefinitions& definitions)>;

class FolderVariant final : public Variant {
 public:
  /// The problem must outlive it. The library is loaded by `prepare`, and never before.
  /// `choice` is what was compiled in: "TILE=8".
  FolderVariant(const FolderProblem& problem, StageSource source, StageBuild build, std::string choice = {});

  const FolderVariant* compiled_stage() const override { return this; }
  const FolderProblem& problem() const { return problem_; }
  const StageSource& source() const { return source_; }
  const StageBuild& build() const { return build_; }
  /// Without them there is nothing to choose.
  void set_builds(StageBuilds builds) { builds_ = std::move(builds); }
  const std::string& choice() const { return choice_; }

  std::string unsupported_reason(const ProblemSize& size) const override;
  std::string not_here() const override { return build_.missing; }
  std::string does_not_compile() const override { return build_.error; }
  bool launches_by_itself() const override { return source_.language != StageLanguage::cpp; }
  /// Throws DeviceError if the library cannot be loaded.
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override;
  double tolerance() const override;
  /// All values of its parameters with each other; those that differ least from the first ones first.
  Configurations configurations(const ProblemSize& size, const Configuration& wanted, int most) const override;
  /// Compiled with them, or `does_not_compile`.
  std::unique_ptr<Variant> configured(const ProblemSize& size, const Configuration& wanted,
                                      ChosenBy chosen_by) const override;

 private:
  const FolderProblem& problem_;
  StageSource source_;
  StageBuild build_;
  std::string choice_;
  StageBuilds builds_;
  std::vector<Expression> needs_;
};

/// What a registration would say of it. The texts are the stage's own, and that of what it builds on is another's.
VariantInfo info_of(const FolderVariant& variant, std::string_view builds_on);

}  // namespace convladder
