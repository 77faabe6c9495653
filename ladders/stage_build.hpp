// Stages and references to shared libraries with one function each, `solve` or `reference`, by the compilers of this
// machine: each by itself, and only when something that it is made of has changed.
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
  std::string error = {};              ///< why not, in one line: the compiler's first
  std::string missing = {};            ///< likewise: there is no compiler
  bool was_built_before = false;
};

/// A checksum of the library: of another source, header, compiler or option it is another. Its name says less: what is
/// built again since a header has changed lies where the last one lay. Empty where there is none.
std::string content_of(const StageBuild& build);
/// The PTX in the library of a CUDA stage; empty where it was not kept.
std::string stage_ptx(const StageBuild& build);
/// What ptxas says of its kernels, for each architecture it was asked for; none where there is no ptxas.
std::vector<KernelResources> stage_resources(const StageBuild& build);

/// What a library has beside `solve` or `reference`: the same with its arguments in a list of addresses
/// (LadderProblem::solve_call), so that who calls it need not be compiled for the problem.
inline constexpr const char* kSolveCall = "convladder_solve";
inline constexpr const char* kReferenceCall = "convladder_reference";

/// What parameters are compiled in: -DTILE=16.
using StageDefinitions = std::vector<std::pair<std::string, int>>;

class StageBuilder {
 public:
  /// `cache` is made where it is missing. Any number of processes may share it. Throws UserError.
  explicit StageBuilder(std::filesystem::path cache);

  /// C++ by the compiler that CXX names, or c++, g++ or clang++; CUDA by nvcc; PTX is held by a library in C++, so that
  /// it needs no nvcc (launch_plan.hpp). A stage that defines another `solve`
  /// than the problem's signature says does not compile. Throws UserError where the cache cannot be written.
  StageBuild build(const LadderFolder& folder, const StageSource& stage, const StageDefinitions& definitions) const;
  /// The same of a reference.cpp.
  StageBuild build_reference(const LadderFolder& folder) const;

 private:
  struct Order;
  StageBuild carry_out(const Order& order) const;
  /// What a stage without `solve` is launched by. Throws UserError.
  static void add_launches(Order& order, const LadderProblem& problem, const StageSource& stage,
                           const StageDefinitions& definitions);
  std::filesystem::path cache_;
};

}  // namespace convladder
