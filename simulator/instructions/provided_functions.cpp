#include "simulator/instructions/provided_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "simulator/memory/device_memory.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/state/device_print.hpp"

namespace convladder::simulated {
namespace {

constexpr int kBadFree = 110;                                     // a kind of fault beside those of accesses
constexpr std::size_t kMostPrinted = std::size_t{16} << 20;       // bytes of text of a launch
constexpr std::uint64_t kMostHeapBytes = std::uint64_t{1} << 30;  // of one allocation

const CallSite& call_of(const WarpState& warp, const Operation& operation) {
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

template <typename Function>
void for_each_lane(LaneMask lanes, const Function& function) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (((lanes >> lane) & 1U) != 0) function(lane);
  }
}

void print(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    const auto format = argument<std::uint64_t>(warp, operation, 0, lane);
    const auto list = argument<std::uint64_t>(warp, operation, 1, lane);
    int values = 0;
    const std::string text = printed_text(warp, lane, format, list, values);
    std::string& all = warp.block->printed;
    if (all.size() + text.size() <= kMostPrinted) {
      all += text;
    } else {
      values = -1;  // the function's result if its buffer is full
    }
    set_result<std::int32_t>(warp, operation, lane, values);
  });
}

void allocate(WarpState& warp, const Operation& operation) {
  BlockContext& block = *warp.block;
  ++block.memory_changes;
  for_each_lane(warp.mask, [&](int lane) {
    const auto bytes = argument<std::uint64_t>(warp, operation, 0, lane);
    std::uint64_t address = 0;
    try {
      if (bytes <= kMostHeapBytes) address = block.memory->allocate(bytes, "malloc in the kernel");
    } catch (const std::bad_alloc&) {
      address = 0;
    }
    if (address != 0) {
      for (AccessObserver* const observer : block.observers) observer->allocated(address, bytes);
    }
    set_result<std::uint64_t>(warp, operation, lane, address);
  });
}

void release(WarpState& warp, const Operation& operation) {
  BlockContext& block = *warp.block;
  ++block.memory_changes;
  std::ranges::fill(block.ranges, CachedRange{});  // they may name what is freed
  for_each_lane(warp.mask, [&](int lane) {
    const auto address = argument<std::uint64_t>(warp, operation, 0, lane);
    if (address == 0) return;
    try {
      const Allocation* const allocation = block.memory->find(address);
      if (allocation == nullptr || allocation->label != "malloc in the kernel") throw std::invalid_argument("");
      block.memory->free(address);
      for (AccessObserver* const observer : block.observers) observer->freed(address);
    } catch (const std::invalid_argument&) {
      block.fault(warp, operation, Checker::memory, kBadFree, LaneMask{1} << lane, [&](int faulty) {
        return block.finding_at(
            warp, operation, faulty, Checker::memory,
            fmt::format("free of 0x{:x}, which malloc has not returned or which is freed", address));
      });
    }
  });
}

}  // namespace

const ProvidedFunction* provided_function(std::string_view name) {
  static const std::vector<ProvidedFunction> all = {
      {"vprintf", {8, 8}, {4}, OperationKind::plain, print},
      {"malloc", {8}, {8}, OperationKind::plain, allocate},
      {"free", {8}, {}, OperationKind::plain, release},
      {"__assertfail", {8, 8, 4, 8, 8}, {}, OperationKind::trap, nullptr},
  };
  const auto found = std::ranges::find(all, name, &ProvidedFunction::name);
  return found == all.end() ? nullptr : &*found;
}

std::string assertion_text(const WarpState& warp, const Operation& operation, int lane) {
  const auto text = [&](std::size_t index) {
    std::string line = device_text(warp, lane, argument<std::uint64_t>(warp, operation, index, lane));
    std::ranges::replace_if(
        line, [](char c) { return c >= 0 && c < ' '; }, '?');
    return line;
  };
  return fmt::format("assertion '{}' failed at {}:{} in {}", text(0), text(1),
                     argument<std::uint32_t>(warp, operation, 2, lane), text(3));
}

}  // namespace convladder::simulated
