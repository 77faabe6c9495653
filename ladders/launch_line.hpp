// One @launch line of a stage's head: how a kernel is launched. What its expressions and names mean is
// launch_plan.hpp's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// "tile grid(div(M + 31, 32), B) block(32, 8) shared(4 * K) args(x, y, M)", taken apart.
struct StageLaunch {
  int line = 0;                    ///< of the source
  std::string kernel;              ///< as PTX calls it (.entry), or as CUDA C++ names it: "tile<16>", "of::tile"
  std::vector<std::string> grid;   ///< one to three expressions
  std::vector<std::string> block;  ///< likewise
  std::string shared;              ///< bytes of dynamic shared memory, an expression
  std::optional<std::vector<std::string>> arguments;  ///< names; none: all that `solve` gets
};

/// `is_ptx`: names are those of PTX. Throws std::invalid_argument, one line.
StageLaunch parse_launch(std::string_view text, bool is_ptx);

}  // namespace convladder
