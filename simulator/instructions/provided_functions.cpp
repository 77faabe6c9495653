#include "simulator/instructions/provided_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

#include "simulator/instructions/call_arguments.hpp"
#include "simulator/instructions/device_runtime.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/state/block_context.hpp"
#include "simulator/state/device_print.hpp"

namespace convladder::simulated {
namespace {

constexpr int kBadFree = 110;                                // a kind of fault beside those of accesses
constexpr std::size_t kMostPrinted = std::size_t{16} << 20;  // bytes of text of a launch
constexpr const char* kHeapLabel = "malloc in the kernel";
constexpr std::uint64_t kMostHeapBytes = std::uint64_t{1} << 30;  // of one allocation

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
  for_each_lane(warp.mask, [&](int lane) {
    const std::uint64_t address = allocate_on_heap(warp, argument<std::uint64_t>(warp, operation, 0, lane));
    set_result<std::uint64_t>(warp, operation, lane, address);
  });
}

void release(WarpState& warp, const Operation& operation) {
  for_each_lane(warp.mask, [&](int lane) {
    free_on_heap(warp, operation, lane, argument<std::uint64_t>(warp, operation, 0, lane));
  });
}

/// One of the texts that __assertfail gets, in one line.
std::string assertion_word(const WarpState& warp, const Operation& operation, int lane, std::size_t index) {
  std::string line = device_text(warp, lane, argument<std::uint64_t>(warp, operation, index, lane));
  std::ranges::replace_if(
      line, [](char c) { return c >= 0 && c < ' '; }, '?');
  return line;
}

}  // namespace

std::uint64_t allocate_on_heap(WarpState& warp, std::uint64_t bytes) {
  BlockContext& block = *warp.block;
  ++block.memory_changes;
  std::uint64_t address = 0;
  try {
    if (bytes <= kMostHeapBytes) address = block.memory->allocate(bytes, kHeapLabel);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  if (address != 0) {
    for (AccessObserver* const observer : block.observers) observer->allocated(address, bytes);
  }
  return address;
}

bool free_on_heap(WarpState& warp, const Operation& operation, int lane, std::uint64_t address) {
  BlockContext& block = *warp.block;
  ++block.memory_changes;
  std::ranges::fill(block.ranges, CachedRange{});  // they may name what is freed
  if (address == 0) return true;
  try {
    const Allocation* const allocation = block.memory->find(address);
    if (allocation == nullptr || allocation->label != kHeapLabel) throw std::invalid_argument("");
    block.memory->free(address);
    for (AccessObserver* const observer : block.observers) observer->freed(address);
    return true;
  } catch (const std::invalid_argument&) {
    block.fault(warp, operation, Checker::memory, kBadFree, LaneMask{1} << lane, [&](int faulty) {
      return block.finding_at(warp, operation, faulty, Checker::memory,
                              fmt::format("free of 0x{:x}, which malloc has not returned or which is freed", address));
    });
    return false;
  }
}

const ProvidedFunction* provided_function(std::string_view name) {
  static const std::vector<ProvidedFunction> all = {
      {"vprintf", {8, 8}, {4}, OperationKind::plain, print},
      {"malloc", {8}, {8}, OperationKind::plain, allocate},
      {"free", {8}, {}, OperationKind::plain, release},
      {"__assertfail", {8, 8, 4, 8, 8}, {}, OperationKind::trap, nullptr},
  };
  const auto found = std::ranges::find(all, name, &ProvidedFunction::name);
  return found == all.end() ? device_runtime_function(name) : &*found;
}

std::string assertion_text(const WarpState& warp, const Operation& operation, int lane) {
  // The compiler writes out all arguments of a template, which may be thousands of letters.
  std::string function = assertion_word(warp, operation, lane, 3);
  function.resize(std::min(function.size(), function.find(" [with ")));
  constexpr std::size_t kLongest = 120;
  if (function.size() > kLongest) {
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(function[end]) & 0xc0U) == 0x80U) --end;  // whole letters
    function = function.substr(0, end) + "…";
  }
  return fmt::format("assertion '{}' failed at {}:{} in {}", assertion_word(warp, operation, lane, 0),
                     assertion_word(warp, operation, lane, 1), argument<std::uint32_t>(warp, operation, 2, lane),
                     function);
}

void write_assertion(WarpState& warp, const Operation& operation) {
  BlockContext& block = *warp.block;
  for_each_lane(warp.mask, [&](int lane) {
    if (block.asserted.size() > kMostPrinted) return;
    const Finding place = block.finding_at(warp, operation, lane, Checker::memory, "");
    block.asserted +=
        fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n",
                    assertion_word(warp, operation, lane, 1), argument<std::uint32_t>(warp, operation, 2, lane),
                    assertion_word(warp, operation, lane, 3), place.block.x, place.block.y, place.block.z,
                    place.thread.x, place.thread.y, place.thread.z, assertion_word(warp, operation, lane, 0));
  });
}

}  // namespace convladder::simulated
