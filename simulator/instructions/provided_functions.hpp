// Functions that the device provides to kernels: vprintf, malloc, free and __assertfail (CUDA C++ programming guide,
// 10.34 to 10.37).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/state/operation.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

struct ProvidedFunction {
  std::string_view name;
  std::vector<std::uint32_t> arguments;  ///< size of each in bytes
  std::vector<std::uint32_t> results;
  OperationKind kind = OperationKind::plain;
  Handler handler = nullptr;  ///< of a function that is a plain operation
};

/// The function of that name; nullptr if there is none.
const ProvidedFunction* provided_function(std::string_view name);

/// The text of __assertfail, called by this operation, for a lane: "assertion 'x > 0' failed at a.cu:12 in f".
std::string assertion_text(const WarpState& warp, const Operation& operation, int lane);

}  // namespace convladder::simulated
