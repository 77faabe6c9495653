// A stage of a folder: code that is compiled when it runs, and the variant that it is.
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

/// A variant's code that is compiled when it runs, and loaded only by the process of a case.
struct CompiledStage {
  const FolderProblem* problem = nullptr;  ///< of the folder; outlives the stage
  StageSource source;
  StageBuild build;
  std::string choice;                 ///< the parameters that were compiled in: "TILE=8"
  std::filesystem::path folder = {};  ///< its source's; empty where that is not at hand

  /// Whether it launches its kernels through the CUDA runtime.
  bool launches_by_itself() const { return source.is_cuda(); }
};

/// Compiles the stage with these parameters, or finds it compiled. Any thread may call.
using StageBuilds = std::function<StageBuild(const StageDefinitions& definitions)>;

/// The stage as a variant: a shared library with `solve`, or the reason why there is none. The library is loaded by
/// `prepare`, and never before. `builds` compiles other configurations; without it there is nothing to choose.
std::unique_ptr<Variant> stage_variant(CompiledStage stage, StageBuilds builds = {});

/// The stage's info as a registration would give it. Its texts belong to the stage, except `builds_on`, which belongs
/// to another.
VariantInfo info_of(const CompiledStage& stage, std::string_view builds_on);

}  // namespace convladder
