// Arguments and results of calls of functions that the device provides: their places in the frame of the call.
#pragma once

#include <cstdint>
#include <cstring>

#include "simulator/state/block_context.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

inline const CallSite& call_of(const WarpState& warp, const Operation& operation) {
  return warp.block->program->calls[static_cast<std::size_t>(operation.detail)];
}

template <typename T>
T argument(const WarpState& warp, const Operation& operation, std::size_t index, int lane) {
  const ParameterPlace& place = call_of(warp, operation).arguments[index];
  T value;
  std::memcpy(&value, warp.bases[0] + place.offset + static_cast<std::size_t>(lane) * place.stride, sizeof value);
  return value;
}

template <typename T>
void set_result(const WarpState& warp, const Operation& operation, int lane, T value) {
  const CallSite& call = call_of(warp, operation);
  if (call.results.empty()) return;
  const ParameterPlace& place = call.results[0];
  std::memcpy(warp.bases[0] + place.offset + static_cast<std::size_t>(lane) * place.stride, &value, sizeof value);
}

}  // namespace convladder::simulated
