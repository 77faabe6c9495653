// Builds stages and references as shared libraries with one function each, `solve` or `reference`, by the compilers of
// this machine: each alone, and only when something that it is made of has changed.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "devices/kernel_resources.hpp"
#include "ladders/ladder_folder.hpp"

namespace convladder {

struct StageBuild {
  std::filesystem::path library = {};  ///< empty if there is none
  std::string error = {};              ///< the reason for no library, in one line: the compiler's first
  std::string missing = {};            ///< the reason for no library where there is no compiler, in one line
  bool was_built_before = false;
  std::string messages = {};  ///< all that the compiler said, if it has made no library
};

/// A checksum of the library, which changes with its source, headers, compiler and options. The library's name says
/// less: after a change of a header the new one lies where the last one lay. Empty where there is none.
std::string content_of(const StageBuild& build);
/// The PTX in the library of a CUDA stage, all its modules one after the other; empty where it was not kept.
std::string stage_ptx(const StageBuild& build);
/// ptxas's report of the library's kernels, for each architecture it was asked for; empty where there is no ptxas.
std::vector<KernelResources> stage_resources(const StageBuild& build);

/// The files that a process reads when it loads the library and calls it: the library, and for a stage in Python its
/// interpreter, packages and modules.
std::vector<std::filesystem::path> files_to_load(const std::filesystem::path& library);

/// The functions beside `solve` and `reference` in a library: they take the same arguments in a list of addresses
/// (LadderProblem::solve_call), so that their caller need not be compiled for the problem.
inline constexpr const char* kSolveCall = "convladder_solve";
inline constexpr const char* kReferenceCall = "convladder_reference";

class StageBuilder {
 public:
  /// Makes the folder `cache` where it is missing. Any number of processes may share it. Throws UserError.
  explicit StageBuilder(std::filesystem::path cache);

  /// Builds a stage: C++ by the compiler that CXX names, or c++, g++ or clang++; CUDA by nvcc; PTX is held by a library
  /// in C++, so that it needs no nvcc (launch_plan.hpp); Python as python_stages.hpp says. A stage whose `solve`
  /// differs from the problem's signature does not compile. Throws UserError where the cache cannot be written.
  StageBuild build(const LadderFolder& folder, const StageSource& stage, const StageDefinitions& definitions) const;
  /// Builds the folder's reference.cpp. Throws UserError where the cache cannot be written.
  StageBuild build_reference(const LadderFolder& folder) const;

 private:
  struct Order;
  StageBuild carry_out(Order order) const;
  StageBuild build_python(const LadderFolder& folder, const StageSource& stage,
                          const StageDefinitions& definitions) const;
  /// Adds to the order the launches of a stage without `solve`. Throws UserError.
  static void add_launches(Order& order, const LadderProblem& problem, const StageSource& stage,
                           const StageDefinitions& definitions);
  std::filesystem::path cache_;
};

}  // namespace convladder
