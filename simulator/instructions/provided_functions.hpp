// Functions that the device provides to kernels: vprintf, malloc, free and __assertfail (CUDA C++ programming guide,
// 10.34 to 10.37), and those of device_runtime.hpp.
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

/// Memory of malloc in kernels; 0 if there is no room.
std::uint64_t allocate_on_heap(WarpState& warp, std::uint64_t bytes);
/// Frees it. Another address is a fault of the lane at the operation; then returns false.
bool free_on_heap(WarpState& warp, const Operation& operation, int lane, std::uint64_t address);

/// The text of __assertfail, called by this operation, for a lane: "assertion 'x > 0' failed at a.cu:12 in f".
std::string assertion_text(const WarpState& warp, const Operation& operation, int lane);
/// Adds what the driver writes to the standard error for each of its lanes (CUDA C++ programming guide, 10.36) to
/// BlockContext::asserted: "a.cu:12: f: block: [0,0,0], thread: [3,0,0] Assertion `x > 0` failed."
void write_assertion(WarpState& warp, const Operation& operation);

}  // namespace convladder::simulated
