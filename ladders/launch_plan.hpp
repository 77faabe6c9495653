// Turns the @launch lines of a stage into the source of a `solve` that launches its kernels in their order. In a .cu it
// stands behind the user's own text and launches with <<<>>>; for a .ptx it is a C++ source that holds the PTX and has
// the CUDA driver load it, which needs neither nvcc nor CUDA's headers.
//
//   // @launch scale grid(div(N + 255, 256)) block(256) shared(4 * 256) args(x, y, N)
//
// Sizes are expressions of dimensions, derived values and the stage's parameters. Arguments are names: tensors, scalars
// as their type, everything else as int. Without args(…) they are those of `solve`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ladders/problem_file.hpp"
#include "ladders/stage_source.hpp"

namespace convladder {

/// A function beside `solve` in the library of a stage with @launch: `extern "C" const char*
/// convladder_launch_failure()`. It returns why the last call did not launch everything, in one line that begins with
/// FILE:LINE; null if it did.
inline constexpr const char* kLaunchFailure = "convladder_launch_failure";

class LaunchPlan {
 public:
  /// The stage must have launches. `place` is what messages call its source. Throws UserError "PLACE:line: @launch
  /// KERNEL: what" for unknown names and for expressions that cannot be read.
  LaunchPlan(const StageSource& stage, const LadderProblem& problem, std::string place);

  /// The text that has to stand before the user's own.
  std::string first_text() const;
  /// A source that includes the user's, the file `source`. `values` are those of the stage's parameters, in their
  /// order. A compiler's message about a launch names the @launch line.
  std::string cuda_source(const std::string& source, const std::vector<int>& values) const;
  /// A source that holds `ptx`. Throws UserError "PLACE:line: @launch KERNEL: what" for a kernel that is not there, and
  /// for arguments that differ from its parameters in number or size.
  std::string ptx_source(std::string_view ptx, const std::vector<int>& values) const;

 private:
  /// One argument of a kernel.
  struct Argument {
    std::string name;
    std::string text;       ///< as the generated source writes it
    std::size_t bytes = 0;  ///< its size in memory
    std::size_t value = 0;  ///< the index of its value among those of the size, if it is an int that has to be made
    bool is_made = false;
  };
  struct Launch {
    const StageLaunch* line;
    std::vector<Expression> sizes;  ///< of the grid and of the block (three each), then bytes of shared memory
    std::vector<Argument> arguments;
  };

  [[noreturn]] void fail(const StageLaunch& launch, const std::string& what) const;
  Argument argument(const StageLaunch& launch, const std::string& name) const;
  std::vector<std::string> argument_names() const;
  void check_kernel(const Launch& launch, std::string_view ptx) const;
  std::string beginning(const std::vector<int>& values) const;
  std::string prepared(const Launch& launch) const;
  std::string shown(const Launch& launch) const;

  const StageSource& stage_;
  const LadderProblem& problem_;
  std::string place_;
  std::vector<std::string> names_;  ///< names that expressions may use: the problem's, then those of parameters
  std::vector<Launch> launches_;
};

}  // namespace convladder
