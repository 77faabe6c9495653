// One @launch line of a stage's head: how a kernel is launched. launch_plan.hpp gives its expressions and names their
// meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// A parsed line such as "tile grid(div(M + 31, 32), B) block(32, 8) shared(4 * K) args(x, y, M)".
struct StageLaunch {
  int line = 0;                    ///< its number in the source
  std::string kernel;              ///< as PTX calls it (.entry), or as CUDA C++ names it: "tile<16>", "of::tile"
  std::vector<std::string> grid;   ///< one to three expressions; none with `threads`
  std::vector<std::string> block;  ///< one to three expressions; in Python none where the kernel's compiler chooses
  std::vector<std::string> threads = {};  ///< in Python instead of grid and block: how many in all, in each direction
  std::string shared;                     ///< bytes of dynamic shared memory, an expression
  std::optional<std::vector<std::string>> arguments;  ///< names; none: the arguments of `solve`
};

/// Whose names a @launch line uses.
enum class LaunchedLanguage : std::uint8_t { cuda, ptx, python };

/// Parses the text behind @launch. Throws std::invalid_argument, one line.
StageLaunch parse_launch(std::string_view text, LaunchedLanguage language);

}  // namespace convladder
