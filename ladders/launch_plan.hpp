// Turns the @launch lines of a stage into the source of a `solve` that launches its kernels in their order. In a .cu it
// stands behind the user's own text and launches with <<<>>>; for a .ptx it is a C++ source that holds the PTX and has
// the CUDA driver load it, which needs neither nvcc nor CUDA's headers.
//
//   // @launch scale grid(div(N + 255, 256)) block(256) shared(4 * 256) args(x, y, N)
//
// Sizes are expressions of dimensions, derived values and the stage's parameters. Arguments are tensors, scalars as
// their type, and expressions as int. Without args(…) they are those of `solve`.
//
// The kernels of a stage in Python are compiled to PTX first (python_stages.hpp); a PtxLaunch says how each of their
// parameters is laid out.
#pragma once

#include <cstdint>
#include <optional>
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

/// A value within a kernel's parameter. The fields of one parameter lie one after the other, each aligned as C aligns
/// its type.
struct PtxField {
  enum class Kind : std::uint8_t {
    tensor,   ///< the address of the tensor `text`
    scalar,   ///< the scalar `text`
    value,    ///< the expression `text`: a whole number
    scratch,  ///< the address of memory with `bytes` for each block; null for 0
    null      ///< no address
  };
  Kind kind = Kind::null;
  std::string type;  ///< "ptr", or the name of an ElementType
  std::string text = {};
  std::int64_t bytes = 0;
};

/// How a kernel of PTX is launched. Sizes that are not given are those of the @launch line.
struct PtxLaunch {
  std::string ptx;    ///< the text of its module; launches may share one
  std::string entry;  ///< the kernel's name in it
  std::vector<std::string> grid = {};
  std::vector<std::string> block = {};
  std::optional<std::string> shared = {};
  std::vector<std::vector<PtxField>> parameters = {};
};

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
  /// The launches of a stage in PTX. Throws UserError "PLACE:line: @launch KERNEL: what" for a kernel that is not
  /// there, and for arguments that differ from its parameters in number or size.
  std::vector<PtxLaunch> ptx_launches(std::string_view ptx) const;
  /// A source that holds the PTX of `launches`, one for each @launch line. Throws UserError for a field that names
  /// nothing that the problem has.
  std::string ptx_source(const std::vector<PtxLaunch>& launches, const std::vector<int>& values) const;

 private:
  /// One argument of a kernel.
  struct Argument {
    std::string name;
    std::size_t bytes = 0;            ///< its size in memory
    std::optional<Expression> value;  ///< of an int that has to be made; none for what `solve` gets
    PtxField::Kind kind = PtxField::Kind::value;
    std::string type;  ///< as in PtxField
  };
  struct Launch {
    const StageLaunch* line;
    std::vector<Expression> sizes;  ///< of the grid and of the block (three each), then bytes of shared memory
    std::vector<Argument> arguments;
  };
  /// A whole number that a launch makes from an expression.
  struct Made {
    std::string name;  ///< in the generated source
    Expression value;
    std::string type;  ///< of an ElementType
  };

  [[noreturn]] void fail(const StageLaunch& launch, const std::string& what) const;
  Argument argument(const StageLaunch& launch, const std::string& name) const;
  std::vector<std::string> argument_names() const;
  void check_kernel(const Launch& launch, std::string_view ptx) const;
  void check_parameters(const Launch& launch, const PtxLaunch& compiled) const;
  std::string beginning(const std::vector<int>& values) const;
  Launch sized_as(const Launch& launch, const PtxLaunch& compiled) const;
  std::string prepared(const Launch& launch, const std::vector<Made>& made) const;
  std::string launch_text(const Launch& launch, const PtxLaunch& compiled, std::size_t module) const;
  std::string shown(const Launch& launch) const;

  const StageSource& stage_;
  const LadderProblem& problem_;
  std::string place_;
  std::vector<std::string> names_;  ///< names that expressions may use: the problem's, then those of parameters
  std::vector<Launch> launches_;
};

}  // namespace convladder
