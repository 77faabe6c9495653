// Calls of functions, and branches through tables, where the lanes of a warp go several ways at once.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "devices/kernel_resources.hpp"
#include "simulator/execution/block_runner.hpp"

namespace convladder::simulated {
namespace {

/// Kinds of faults of one instruction, in addition to those of accesses.
enum Fault { kStackOverflow = 120, kNoFunction, kOtherParameters, kBeyondTable };

std::size_t bytes_of_lanes(const ParameterPlace& place) { return static_cast<std::size_t>(place.stride) * kLanes; }

bool same_sizes(const std::vector<ParameterPlace>& a, const std::vector<ParameterPlace>& b) {
  return std::ranges::equal(a, b, {}, &ParameterPlace::bytes, &ParameterPlace::bytes);
}

}  // namespace

/// Reports a fault in a call, which ends the lanes.
void BlockRunner::call_fault(Warp& warp, const Operation& operation, LaneMask lanes, int kind,
                             const std::string& problem) {
  context_.fault(warp.state, operation, Checker::memory, kind, lanes,
                 [&](int lane) { return context_.finding_at(warp.state, operation, lane, Checker::memory, problem); });
  exit_lanes(warp, lanes);
}

void BlockRunner::call(Warp& warp, const Operation& operation, LaneMask lanes) {
  if (limits_.loops(warp.executed)) look_at_limits(warp, operation, lanes);  // recursion is a loop as well
  const CallSite& site = program_.calls[static_cast<std::size_t>(operation.detail)];
  const int caller = warp.paths.current().frame;
  if (site.function >= 0) return enter(warp, operation, site.function, caller, lanes);
  std::array<std::uint64_t, kLanes> callees{};
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    callees[lane] = operation.vector_elements == 2 ? warp.state.read<std::uint64_t>(operation.operands[0])[lane]
                                                   : warp.state.read<std::uint32_t>(operation.operands[0])[lane];
  }
  for (LaneMask left = lanes; left != 0;) {
    const std::uint64_t callee = callees[static_cast<std::size_t>(std::countr_zero(left))];
    LaneMask same = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) same |= callees[lane] == callee ? LaneMask{1} << lane : 0;
    same &= left;
    left &= ~same;
    const auto function = std::ranges::find(program_.functions, callee, &ProgramFunction::address);
    if (function == program_.functions.end()) {
      call_fault(warp, operation, same, kNoFunction, fmt::format("a call of 0x{:x}, where no function is", callee));
    } else if (!same_sizes(site.arguments, function->parameters) || !same_sizes(site.results, function->results)) {
      call_fault(
          warp, operation, same, kOtherParameters,
          fmt::format("a call of '{}' with other parameters than it has", display_name(function->function->name)));
    } else {
      enter(warp, operation, static_cast<int>(function - program_.functions.begin()), caller, same);
    }
  }
}

/// Lanes that are in the frame `caller` call a function and get a frame of their own.
void BlockRunner::enter(Warp& warp, const Operation& operation, int function, int caller, LaneMask lanes) {
  const ProgramFunction& callee = program_.functions[static_cast<std::size_t>(function)];
  const CallSite& site = program_.calls[static_cast<std::size_t>(operation.detail)];
  const CallFrames::Call from = warp.frames.call(caller);
  const std::uint32_t local_of_caller = from.function < 0
                                            ? program_.own_local_bytes
                                            : program_.functions[static_cast<std::size_t>(from.function)].local_bytes;
  const CallFrames::Call call{caller, function, &site, from.depth + 1, from.local_base + local_of_caller};
  const bool fits = call.depth <= CallFrames::kDeepest &&
                    (callee.local_bytes == 0 || call.local_base + callee.local_bytes <= program_.local_bytes);
  const int frame = fits ? warp.frames.take(call, warp.paths.all()) : -1;
  if (fits && frame < 0) {
    return call_fault(
        warp, operation, lanes, kStackOverflow,
        fmt::format("the calls of the warp's threads, which are on different ways, need more than {} MiB for "
                    "their registers; this one is {} deep",
                    CallFrames::kMostBytes >> 20, call.depth));
  }
  if (!fits) {
    return call_fault(warp, operation, lanes, kStackOverflow,
                      fmt::format("stack overflow: functions call each other {} deep, with {} bytes of local variables",
                                  call.depth, call.local_base + callee.local_bytes));
  }
  std::byte* const to = warp.frames.base(frame);
  const std::byte* const here = warp.frames.base(caller);
  warp.state.bases[0] = warp.frames.base(caller);  // frames may have moved
  std::memcpy(to, here, program_.special_bytes);
  for (const auto& [offset, bytes] : program_.zeroed) std::memset(to + offset, 0, bytes);
  for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
    std::memcpy(to + callee.parameters[i].offset, here + site.arguments[i].offset,
                bytes_of_lanes(callee.parameters[i]));
  }
  if (program_.local_base) {
    auto* const bases = reinterpret_cast<std::uint64_t*>(to + program_.local_base->offset());
    std::fill(bases, bases + kLanes, call.local_base);
  }
  warp.paths.call(callee.first, lanes, frame);
}

/// Lanes of the current path return, and the caller gets their results.
void BlockRunner::leave_function(Warp& warp, LaneMask leaving) {
  const int frame = warp.paths.current().frame;
  const CallFrames::Call& call = warp.frames.call(frame);
  const std::vector<ParameterPlace>& results = program_.functions[static_cast<std::size_t>(call.function)].results;
  const std::byte* const from = warp.frames.base(frame);
  std::byte* const to = warp.frames.base(call.caller);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ParameterPlace& place = call.site->results[i];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (((leaving >> lane) & 1U) == 0) continue;
      std::memcpy(to + place.offset + lane * place.stride, from + results[i].offset + lane * place.stride, place.bytes);
    }
  }
  warp.paths.return_from_call(leaving);
}

bool BlockRunner::table_branch(Warp& warp, const Operation& operation, int at, LaneMask lanes,
                               const ProgramBlock& block) {
  const std::vector<int>& table = program_.branch_tables[static_cast<std::size_t>(operation.detail)];
  const auto* const indices = warp.state.read<std::uint32_t>(operation.operands[0]);
  std::vector<std::pair<int, LaneMask>> ways;  // the first of them runs last
  const LaneMask others = warp.paths.current().mask & ~lanes;
  if (others != 0) ways.emplace_back(at + 1, others);
  LaneMask beyond = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((lanes >> lane) & 1U) == 0) continue;
    if (indices[lane] >= table.size()) {
      beyond |= LaneMask{1} << lane;
      continue;
    }
    const int target = table[indices[lane]];
    auto way = std::ranges::find(ways, target, &std::pair<int, LaneMask>::first);
    if (way == ways.end()) way = ways.insert(ways.end(), {target, 0});
    way->second |= LaneMask{1} << lane;
  }
  if (beyond != 0) {
    call_fault(warp, operation, beyond, kBeyondTable,
               fmt::format("entry {} of a table of {} labels", indices[std::countr_zero(beyond)], table.size()));
  }
  if (ways.empty()) return true;
  bool backwards = false;
  for (const auto& [target, mask] : ways) backwards = backwards || target <= at;
  if (ways.size() == 1) {
    warp.paths.current().next = ways[0].first;
  } else {
    ++context_.counters[operation.instruction].divergent_branches;
    const auto leads_elsewhere = [&](const std::pair<int, LaneMask>& way) {
      return round_at(way.first) != block.round;
    };
    warp.paths.part_many(at, block.reconvergence, std::ranges::any_of(ways, leads_elsewhere), ways);
  }
  return !backwards || loops(warp, operation, lanes);
}

}  // namespace convladder::simulated
