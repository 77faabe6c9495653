// A stage of a folder as the harness knows variants: a shared library with `solve`, or the reason why there is none.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ladders/folder_problem.hpp"
#include "ladders/stage_build.hpp"
#include "ladders/stage_source.hpp"
#include "variants/variant.hpp"

namespace convladder {

/// One argument of a stage's call (LadderProblem::solve_call): a tensor by its address on the device, or a number.
struct StageArgument {
  void* tensor = nullptr;              ///< null for a number
  std::vector<std::byte> number = {};  ///< as its type lies in memory
};

/// A device on which a stage of a folder runs in a process of its own, and hands over its results only.
class StageHost {
 public:
  virtual ~StageHost() = default;
  /// Loads the library beside the tensors that were allocated last. Throws DeviceError if it cannot be loaded.
  virtual void load(const std::string& library, const char* function, const std::vector<StageArgument>& arguments) = 0;
  /// Calls the stage once, and returns when it has returned.
  virtual void call() = 0;
};

/// Compiles the stage with these parameters, or finds it compiled. Any thread may call.
using StageBuilds = std::function<StageBuild(const StageDefinitions& definitions)>;

class FolderVariant final : public Variant {
 public:
  /// The problem must outlive the variant. The library is loaded by `prepare`, and never before. `choice` names the
  /// parameters that were compiled in: "TILE=8".
  FolderVariant(const FolderProblem& problem, StageSource source, StageBuild build, std::string choice = {});

  const FolderVariant* compiled_stage() const override { return this; }
  const FolderProblem& problem() const { return problem_; }
  const StageSource& source() const { return source_; }
  const StageBuild& build() const { return build_; }
  /// Sets how other configurations are compiled; without it there is nothing to choose.
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
  /// All combinations of its parameters' values; those closest to the first values come first.
  Configurations configurations(const ProblemSize& size, const Configuration& wanted, int most) const override;
  /// The stage compiled with these parameters, or `does_not_compile`.
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

/// The stage's info as a registration would give it. Its texts belong to the stage, except `builds_on`, which belongs
/// to another.
VariantInfo info_of(const FolderVariant& variant, std::string_view builds_on);

}  // namespace convladder
